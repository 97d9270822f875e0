# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How well actuators hold a machine: its own number, beside that of the constraints."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import qr
from support.machines.loop_states import ALL, state
from support.machines.looped_machines import five_bar, planar_linkage
from support.platforms.stewart_motion import GEOMETRY
from support.refusals import refused
from support.witnesses import loop_witness

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    complete_acceleration, complete_velocity, ConstrainedDynamics, ConstraintStatus, LEAST_FORCE,
    LEAST_TORQUE)
from liedyn_ros.lie import so3
from liedyn_ros.model import Model, ModelBuilder, pose, SpatialInertia
from liedyn_ros.stewart import model_state, platform_model

REDUNDANT, NEAR = ConstraintStatus.REDUNDANT, ConstraintStatus.NEAR_SINGULAR
CRANK, ROCKER = np.eye(3, dtype=bool)[[0, 2]]


def rocker_driven(bend: float) -> tuple[ConstrainedDynamics, Array]:
    """Return a four-bar driven at its rocker; crank and coupler are off their line by bend."""
    model = planar_linkage((0.2, 0.5), (0.4,), 0.45, ('right_0',))
    reach = 0.2 + 0.5 * np.exp(1j * bend)
    ahead = np.arccos((abs(reach)**2 + 0.45**2 - 0.4**2) / (0.9 * abs(reach)))
    tip = abs(reach) * np.exp(1j * ahead)
    return ConstrainedDynamics(model), np.array(
        [ahead - np.angle(reach), bend, np.angle(tip - 0.45)])


def motion(dynamics: ConstrainedDynamics, q: Array, known: Array) -> tuple[Array, Array]:
    """Return velocities and accelerations that the known coordinates decide."""
    v = complete_velocity(dynamics, q, np.where(known, 1.0, 0.0), known)
    return v, complete_acceleration(dynamics, q, v, np.where(known, 0.5, 0.0), known)


def number_of(dynamics: ConstrainedDynamics, q: Array, actuated: Array | None = None) -> float:
    """Return the inverse condition number of the actuation at rest."""
    rest = np.zeros(dynamics.model.nv)
    found = dynamics.inverse(q, rest, rest, actuated=actuated)
    assert found.actuation_inverse_condition_number is not None
    return found.actuation_inverse_condition_number


def test_a_dead_centre_is_refused_and_names_motor_and_motion() -> None:
    dynamics, q = rocker_driven(0.0)
    v, a = motion(dynamics, q, CRANK)
    for redundancy in (LEAST_TORQUE, LEAST_FORCE):
        with refused(ModelError, 'left_0_joint', 'left_1_joint', got=1):
            dynamics.inverse(q, v, a, redundancy=redundancy)
    both = dynamics.inverse(q, v, a, actuated=[True, False, True])
    assert both.status is REDUNDANT
    assert np.abs(both.tau).max() < 100.0
    with refused(ModelError, 'left_0_joint', 'left_1_joint', indices=(1,)):
        dynamics.inverse.batch(np.array([rocker_driven(0.3)[1], q]), np.zeros((2, 3)),
                               np.zeros((2, 3)))


def test_the_number_falls_as_the_distance_to_a_dead_centre() -> None:
    numbers, bends = [], 10.0 ** -np.arange(1, 7)
    for bend in bends:
        dynamics, q = rocker_driven(bend)
        v, a = motion(dynamics, q, CRANK)
        found = dynamics.inverse(q, v, a)
        number = found.actuation_inverse_condition_number
        assert found.status is (NEAR if number < 1e-4 else REDUNDANT)
        assert found.inverse_condition_number > 0.1  # of the constraints, which are regular
        numbers.append(number / bend)
        tree, h = Dynamics(dynamics.model), 1e-5  # what the rocker puts in becomes energy
        ahead = [v + s * h * a for s in (-1.0, 1.0)]
        energy = [tree.kinetic_energy(at, u) + tree.potential_energy(at) for at, u in (
            (q + s * h * v + 0.5 * h * h * a, u) for s, u in zip((-1.0, 1.0), ahead))]
        power = (energy[1] - energy[0]) / (2.0 * h)
        assert found.tau[2] * v[2] == pytest.approx(power, rel=1e-5, abs=1e-5)
    # The number is a multiple of the bend, to first order; the factor of the second is near one.
    for number, bend in zip(numbers, bends):
        assert number == pytest.approx(numbers[-1], rel=5.0 * bend)
    for bend in (1e-7, 3e-8):
        assert number_of(*rocker_driven(bend)) == pytest.approx(
            numbers[-1] * bend, rel=5.0 * bends[-1])
    with refused(ModelError, 'left_0_joint', 'left_1_joint'):
        number_of(*rocker_driven(1e-9))


def test_a_five_bar_near_its_type_two_singularity() -> None:
    dynamics = ConstrainedDynamics(five_bar())
    numbers, bends = [], (1e-2, 1e-3, 1e-5, 1e-7)  # of the two couplers, off one line of 0.8
    for bend in bends:
        half = 0.4 * np.cos(0.5 * bend)  # half the distance of the elbows
        turn = np.arccos((0.125 - half) / 0.3)
        q = np.array([turn, 0.5 * bend - turn, np.pi - turn, turn - 0.5 * bend])
        assert np.abs(dynamics.residual(q)).max() < 1e-12
        rest = np.zeros(4)
        found = dynamics.inverse(q, rest, rest)
        numbers.append(found.actuation_inverse_condition_number / bend)
        assert found.status is (NEAR if numbers[-1] * bend < 1e-4 else REDUNDANT)
    for number, bend in zip(numbers, bends):  # a multiple of the bend, to first order
        assert number == pytest.approx(numbers[-1], rel=10.0 * bend)


def test_a_platform_has_one_status_whether_rows_are_redundant_or_not() -> None:
    model = platform_model(GEOMETRY)
    twice = replace(model, closures=(*model.closures, replace(model.closures[0], name='again')))
    for yaw, expected in ((20.0, (ConstraintStatus.REGULAR, REDUNDANT)), (89.999, (NEAR, NEAR))):
        at = np.eye(4)
        at[:3, :3], at[2, 3] = so3.exp(np.array([0.0, 0.0, np.radians(yaw)])), 0.5
        q, rest = model_state(GEOMETRY, at, np.zeros(6))
        found = [ConstrainedDynamics(each).inverse(q, rest, rest) for each in (model, twice)]
        assert tuple(each.status for each in found) == expected
        assert found[0].tau == pytest.approx(found[1].tau, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize('name', ALL)
def test_regular_poses_raise_no_alarm_and_the_number_is_that_of_dense_matrices(name: str) -> None:
    dynamics, q, v, tau, *_ = state(ALL[name])
    a, nv = dynamics.forward(q, v, tau[0]).a, dynamics.model.nv
    rows, mass = loop_witness.jacobian(dynamics.model, q), dynamics.tree.mass_matrix(q)
    null = np.linalg.svd(rows)[2][dynamics.mobility.rank:].T
    lengths = np.linalg.cholesky(null.T @ mass @ null).T
    every = np.ones(nv, dtype=bool)

    def expected(actuated: Array) -> float:
        steps = lengths @ np.linalg.pinv(null[actuated])
        sizes = np.sqrt(np.diag(mass)[actuated]) / np.linalg.norm(steps, axis=0)
        return min(1.0, sizes.min())

    shares = np.linalg.norm(np.linalg.qr(null)[0], axis=1)
    enough = np.isin(np.arange(nv), qr(null.T, pivoting=True)[2][:null.shape[1]])
    for actuated, redundancy in ((every, LEAST_TORQUE), (enough, LEAST_TORQUE),
                                 (enough, LEAST_FORCE),
                                 (np.arange(nv) != shares.argmin(), LEAST_TORQUE)):
        found = dynamics.inverse(q, v, a, actuated=actuated, redundancy=redundancy)
        assert found.actuation_inverse_condition_number == pytest.approx(
            expected(actuated), rel=1e-6)
        assert found.actuation_inverse_condition_number > 1e-3
        assert found.status in (REDUNDANT, ConstraintStatus.REGULAR)
    assert dynamics.forward(q, v, tau[0]).actuation_inverse_condition_number is None


def slider_crank(length: float, mass: float, *actuated: str) -> tuple[Model, Array]:
    """Return crank, rod and slider, of a length (m) and a mass (kg), and a pose of them."""
    builder = ModelBuilder('slider crank', gravity=(0.0, -9.81, 0.0))
    for name, kind, parent, axis, at in (
            ('crank', 'revolute', None, [0.0, 0.0, 1.0], 0.0),
            ('rod', 'revolute', 'crank', [0.0, 0.0, 1.0], 0.3 * length),
            ('slider', 'prismatic', None, [1.0, 0.0, 0.0], 0.0)):
        builder.add_body(name, SpatialInertia(
            mass, [0.2 * length, 0.0, 0.0], mass * length**2 * np.diag([0.01, 0.06, 0.06])))
        builder.add_joint(name, kind, parent, name, axis=axis, placement=pose([at, 0.0, 0.0]),
                          actuated=name in actuated)
    builder.add_closure('pin', 'revolute', 'rod', 'slider', placement_a=pose(
        [0.5 * length, 0.0, 0.0]))
    crank = 0.7
    rod = np.arcsin(-0.3 * np.sin(crank) / 0.5)
    return builder.build(), np.array(
        [crank, rod - crank, length * (0.3 * np.cos(crank) + 0.5 * np.cos(rod))])


@pytest.mark.parametrize('driven', ['crank', 'rod', 'slider'])
def test_the_number_is_that_of_the_mechanism_not_of_its_units(driven: str) -> None:
    model, q = slider_crank(1.0, 1.0, driven)
    expected = number_of(ConstrainedDynamics(model), q)
    assert 0.05 < expected <= 1.0
    for length in (1e-3, 1e3):
        for mass in (1e-6, 1e6):
            model, q = slider_crank(length, mass, driven)
            assert number_of(ConstrainedDynamics(model), q) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize('kind', ['rod', 'point_on_plane'])
def test_a_closure_of_one_row_has_dead_centres_too(kind: str) -> None:
    """A crank of 0.3 m that a slider drives, by a rod of 0.5 m or by a Scotch yoke."""
    builder = ModelBuilder('crank')
    inertia = SpatialInertia(1.0, np.zeros(3), 0.01 * np.eye(3))
    for name, joint, axis in (('crank', 'revolute', [0.0, 0.0, 1.0]),
                              ('slider', 'prismatic', [1.0, 0.0, 0.0])):
        builder.add_body(name, inertia)
        builder.add_joint(name, joint, None, name, axis=axis, actuated=name == 'slider')
    tip, rod = pose([0.3, 0.0, 0.0]), kind == 'rod'
    across = pose(np.zeros(3), np.array([0.0, 0.5 * np.pi, 0.0]))  # its z axis along x
    if rod:
        builder.add_closure('rod', 'rod', 'crank', 'slider', placement_a=tip, length=0.5)
    else:
        builder.add_closure('yoke', kind, 'slider', 'crank', placement_a=across, placement_b=tip)
    dynamics, rest = ConstrainedDynamics(builder.build()), np.zeros(2)
    for bend in 10.0 ** -np.arange(1, 8):
        y = 0.3 * np.sin(bend)
        slider = 0.3 * np.cos(bend) + (np.sqrt(0.25 - y * y) if rod else 0.0)
        step = -y * (slider / (slider - 0.3 * np.cos(bend)) if rod else 1.0)  # m/rad
        q = np.array([bend, slider])
        expected = abs(step) / np.sqrt(0.01 + step**2)  # inertias: 1 kg; 0.01 kg m^2 over step^2
        assert np.abs(dynamics.residual(q)).max() < 1e-12
        for redundancy in (LEAST_TORQUE, LEAST_FORCE):
            found = dynamics.inverse(q, rest, rest, redundancy=redundancy)
            assert found.actuation_inverse_condition_number == pytest.approx(expected, rel=1e-6)
            assert found.status is (NEAR if expected < 1e-4 else ConstraintStatus.REGULAR)
    with refused(ModelError, 'crank', got=1):
        number_of(dynamics, np.array([0.0, 0.8 if rod else 0.3]))


def test_prescribed_joints_that_do_not_hold_the_machine_have_a_status() -> None:
    for bend, expected in ((0.3, REDUNDANT), (1e-6, NEAR), (0.0, ConstraintStatus.SINGULAR)):
        dynamics, q = rocker_driven(bend)
        rest = np.zeros(3)
        assert dynamics.hybrid(q, rest, ROCKER, rest, rest).status is expected


def test_accelerations_that_are_all_prescribed_are_near_no_singularity() -> None:
    dynamics, q, v, tau, *_ = state(ALL['spherical'])
    a = dynamics.forward(q, v, tau[0]).a
    found = dynamics.hybrid(q, v, np.ones(len(v), dtype=bool), a, tau[0])
    assert (found.rank, found.status) == (0, REDUNDANT)
    assert found.a == pytest.approx(a)
