# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rotor speeds to wrench and back: the machine of theory 8, and rotors at their limits."""

from math import comb

import numpy as np
import pytest
from scipy.optimize import minimize
from support.refusals import refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, ModelError, ShapeError
from liedyn_ros.common.resources import config_file
from liedyn_ros.model import load_model, pose, Rotor, RotorAllocation

MODEL = load_model(config_file('aerial_manipulator.yaml'))
ALLOCATION = RotorAllocation(MODEL.rotors)
HOVER = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 9.81 * MODEL.mass])


def test_columns_are_adjoints_of_local_wrenches() -> None:
    for rotor, column in zip(MODEL.rotors, ALLOCATION.matrix.T):
        r, p = rotor.placement[:3, :3], rotor.placement[:3, 3]
        adjoint = np.zeros((6, 6))  # Ad_{T^-1}^T = [R, [p] R; 0, R] (1.2)
        adjoint[:3, :3] = adjoint[3:, 3:] = r
        adjoint[:3, 3:] = np.cross(np.eye(3), p) @ r
        local = np.array([0, 0, -rotor.spin * 1.8e-7, 0, 0, 1.2e-5])  # (8.2)
        np.testing.assert_allclose(column, adjoint @ local, rtol=0, atol=1e-20)


def test_allocation_has_the_condition_of_theory_8() -> None:
    assert np.linalg.matrix_rank(ALLOCATION.matrix) == 6
    assert np.linalg.cond(ALLOCATION.matrix / 1.2e-5) == pytest.approx(5.6, abs=0.05)


def test_speeds_along_the_reference_are_those_of_theory_8() -> None:
    pin = pytest.importorskip('pinocchio')
    from support.witnesses.pinocchio_twin import to_pinocchio
    twin, h = to_pinocchio(MODEL), 1e-3
    data, speeds = twin.model.createData(), []
    for t in np.linspace(0.0, 10.0, 201):
        q = reference(t)
        ahead, behind = (MODEL.difference(q, reference(t + step)) for step in (h, -h))
        effort = twin.from_velocity(pin.rnea(
            twin.model, data, q, twin.to_velocity((ahead - behind) / (2.0 * h)),
            twin.to_velocity((ahead + behind) / h**2)))
        command = ALLOCATION.speeds(effort[:6])
        assert command.reached and not command.at_limit
        speeds.append(command.speeds)
    assert (round(np.min(speeds)), round(np.max(speeds))) == (603, 994)


def test_wrench_and_speeds_undo_each_other() -> None:
    rng, fastest = np.random.default_rng(0), 1400.0
    # Five times the rounding of six products, which the condition of the allocation enlarges.
    rounding = 30 * np.finfo(float).eps * np.linalg.cond(ALLOCATION.matrix) * fastest**2
    for _ in range(100):
        speeds = rng.uniform(0.0, fastest, 6)
        command = ALLOCATION.speeds(ALLOCATION.wrench(speeds))
        assert command.reached
        np.testing.assert_allclose(command.speeds**2, speeds**2, rtol=0, atol=rounding)


@pytest.mark.parametrize('kept', [0, 1, 2])
def test_out_of_reach_attitude_is_kept_then_thrust_then_the_nearest_rest(kept: int) -> None:
    """A second algorithm: each level alone, what comes before it held where it is."""
    rng = np.random.default_rng(1)
    levels = [0, 1], [5], [2, 3, 4]
    weight = np.array([1.0] * 3 + [ALLOCATION.length] * 3)
    held = [k for level in levels[:kept] for k in level]

    def wrench(share: Array) -> Array:
        return ALLOCATION.matrix @ (share * 1400.0**2)

    for _ in range(20):
        wanted = HOVER + rng.normal(size=6) * (5.0, 5.0, 5.0, 30.0, 30.0, 60.0)
        command = ALLOCATION.speeds(wanted)
        rows = levels[kept]
        found = squared(weight[rows] * command.error[rows])
        best = minimize(
            lambda x, wanted=wanted, rows=rows: squared(
                weight[rows] * (wanted - wrench(x))[rows]),
            (command.speeds / 1400.0)**2, bounds=[(0.0, 1.0)] * 6, method='SLSQP',
            constraints=[{'type': 'eq', 'fun': lambda x, given=command.wrench: (
                wrench(x) - given)[held]}] if held else (), options={'ftol': 1e-12})
        assert found <= best.fun + 1e-3 * (1.0 + best.fun)
        np.testing.assert_allclose(command.wrench + command.error, wanted, atol=1e-12)
        np.testing.assert_allclose(ALLOCATION.wrench(command.speeds), command.wrench, atol=1e-12)


def test_too_much_lift_runs_all_rotors_at_full_speed() -> None:
    command = ALLOCATION.speeds(10.0 * HOVER)
    assert not command.reached and command.at_limit == ALLOCATION.names
    np.testing.assert_array_equal(command.speeds, 1400.0)
    assert command.error[5] == pytest.approx(10.0 * HOVER[5] - command.wrench[5])


def test_flat_quadrotor_cannot_push_sideways() -> None:
    allocation = RotorAllocation([rotor(i, placement=pose((x, y, 0.0))) for i, (x, y) in enumerate(
        [(1, 0), (0, 1), (-1, 0), (0, -1)])])
    command = allocation.speeds([0, 0, 0, 3.0, 0, 20.0])
    assert not command.reached and command.at_limit == ()
    np.testing.assert_allclose(command.wrench, [0, 0, 0, 0, 0, 20.0], atol=1e-9)
    np.testing.assert_allclose(command.error, [0, 0, 0, 3.0, 0, 0], atol=1e-9)


def test_derivatives_of_speeds_are_those_along_a_way_of_wrenches() -> None:
    rng = np.random.default_rng(5)
    path = np.vstack([HOVER, rng.normal(size=(3, 6)) * [0.1, 0.1, 0.1, 1.0, 1.0, 1.0]])

    def speeds(t: float) -> Array:
        """Return the speeds a time later."""
        return ALLOCATION.speeds(path[0] + t * path[1] + t**2 / 2 * path[2] + t**3 / 6 * path[3]
                                 ).speeds

    found, h = ALLOCATION.speed_time_derivatives(path), 1e-2
    near = np.array([speeds(k * h) for k in range(-2, 3)])
    np.testing.assert_allclose(found[0], near[2], rtol=1e-13)
    for k, weights in ((1, [1, -8, 0, 8, -1]), (2, [-1, 16, -30, 16, -1])):
        np.testing.assert_allclose(
            found[k], weights @ near / (12.0 * h**k), atol=1e-5 * np.abs(found[k]).max())
    third = np.array([-1, 2, 0, -2, 1]) @ near / (2.0 * h**3)
    np.testing.assert_allclose(found[3], third, atol=1e-2 * np.abs(third).max())
    thrust = [ALLOCATION.matrix @ sum(comb(k, j) * found[j] * found[k - j] for j in range(k + 1))
              for k in range(4)]
    np.testing.assert_allclose(thrust, path, atol=1e-12)


def test_speeds_at_a_bound_or_out_of_reach_have_no_derivatives() -> None:
    with refused(LimitError, 'wrench'):
        ALLOCATION.speed_time_derivatives([10.0 * HOVER, HOVER])
    with refused(LimitError, 'wrench'):
        ALLOCATION.speed_time_derivatives([np.zeros(6)])
    with refused(ShapeError, 'wrench'):
        ALLOCATION.speed_time_derivatives(np.zeros((0, 6)))


def test_refusals() -> None:
    with refused(LimitError, 'speed of rotor rotor_2'):
        ALLOCATION.wrench([1.0, 1.0, 1500.0, 1.0, 1.0, 1.0])
    with refused(ModelError, 'rotors', got=[]):
        RotorAllocation([])
    with refused(ModelError, 'rotors'):
        RotorAllocation([rotor(0, body='a'), rotor(1, body='b')])
    with refused(ModelError, 'length'):
        RotorAllocation([rotor(0, placement=np.eye(4))])
    with refused(ModelError, 'rotor r0', got=2):
        rotor(0, spin=2)
    with refused(LimitError, 'rotor r0'):
        rotor(0, force_coefficient=-1.0)
    with refused(LimitError, 'rotor r0'):
        rotor(0, max_speed=0.0)


def rotor(i: int, body: str = 'base', placement: Array | None = None, spin: int = 0,
          **numbers: float) -> Rotor:
    """Return a rotor whose spin alternates."""
    return Rotor(f'r{i}', body, pose((1.0, 0.0, 0.0)) if placement is None else placement,
                 spin=spin or (-1)**i, **{'force_coefficient': 1e-5, 'moment_coefficient': 1e-7,
                                          'max_speed': 1000.0, **numbers})


def reference(t: float) -> Array:
    """Return the wanted pose of the machine at a time (8.4)."""
    q0, amplitude = np.radians([(10, 20, -35, -10, 15, -30), (25, 40, 50, -25, 35, 45)])
    turn, half_yaw = 0.2 * np.pi * t, 0.5 * np.radians(30.0) * np.sin(0.2 * np.pi * t)
    return np.array([
        np.cos(turn), np.sin(turn), 1.5, 0.0, 0.0, np.sin(half_yaw), np.cos(half_yaw),
        *(q0 + 0.5 * amplitude * (1.0 - np.cos(0.1 * np.pi * t)))])


def squared(x: Array) -> float:
    """Return |x|^2."""
    return float(x @ x)
