# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Closed loops by placements, axes and pitches, of joints and of closures."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import expm, logm, qr
from support.comparison import assert_same
from support.machines.loop_states import ALL, closed, EVERY, REDUNDANT, state
from support.machines.looped_machines import link
from support.machines.model_variants import placed_turn, rebuilt, turned
from support.refusals import ANY, refused
from support.witnesses.complex_loops import ComplexLoops
from support.witnesses.complex_step import along, hat
from support.witnesses.loop_kinematics import ParameterRows
from support.witnesses.tangents import difference, SHORT

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.constrained import (
    ConstrainedDynamics, kinematic_gaps, LEAST_FORCE, LEAST_TORQUE)
from liedyn_ros.dynamics.constrained.partial_derivatives.kinematic_parameters import turned_gaps
from liedyn_ros.dynamics.partial_derivatives.parameters import Parameters
from liedyn_ros.model import JOINT_TYPES, Model


class Direction:
    """A random change of every kinematic parameter of a model, and the models that result."""

    def __init__(self, model: Model, rng) -> None:
        """Draw it: (J, 6), (J,), (C, 6) twice, (C,) twice."""
        joints, closures = len(model.joint_list), len(model.closures)
        self.model, self.places = model, rng.normal(size=(joints, 6))
        self.pitches, self.lengths = rng.normal(size=(2, closures))
        self.frames = rng.normal(size=(2, closures, 6))

    def product(self, by):
        """Return the derivative of a quantity along all placements, frames and sizes."""
        return (np.tensordot(by.by_placement, self.places, 2)
                + np.tensordot(by.by_frame_a, self.frames[0], 2)
                + np.tensordot(by.by_frame_b, self.frames[1], 2)
                + by.by_closure_pitch @ self.pitches + by.by_length @ self.lengths)

    def displace(self, there: ComplexLoops, s) -> None:
        """Displace what there has, by s along the direction."""
        table = self.model.link_table
        for joint, x in zip(self.model.joint_list, self.places):
            link = next(i for i in range(table.N)
                        if joint.v_slice.start <= table.vi[i] < joint.v_slice.stop)
            turn = np.eye(4)  # of the link's frame in the joint's: what the placement ends in
            turn[:3, :3] = placed_turn(joint, link, self.model)
            there.tree.placement[link] = there.start[link] @ turn.T @ (
                np.eye(4) + hat(s * x)) @ turn
        there.closures = [SimpleNamespace(
            **{**vars(closure), 'frame_a': closure.frame_a @ (np.eye(4) + hat(s * a)),
               'frame_b': closure.frame_b @ (np.eye(4) + hat(s * b)),
               'pitch': closure.pitch + s * pitch, 'length': closure.length + s * length})
            for closure, a, b, pitch, length in zip(
                self.model.closures, *self.frames, self.pitches, self.lengths)]


def displaced(dynamics, q, rng):
    """Return a direction, and the witness with a function that displaces it."""
    there, direction = ComplexLoops(dynamics.model, q), Direction(dynamics.model, rng)
    there.start = there.tree.placement.copy()
    return direction, there


@pytest.mark.parametrize('name', EVERY)
def test_placements_frames_and_sizes_beside_complex_steps(name: str) -> None:
    """Forward, hybrid and both kinds of inverse dynamics, along a change of all at once."""
    dynamics, q, v, tau, w, rng = state(EVERY[name])
    n, m, (direction, there) = dynamics.model.nv, dynamics.m, displaced(dynamics, q, rng)
    a = dynamics.forward(q, v, tau[0], external=w).a
    known = np.zeros(n, dtype=bool)
    known[np.argsort(np.linalg.norm(dynamics.jacobian(q), axis=0))[:(n - m) // 2]] = True

    def hybrid(s, which):
        direction.displace(there, s)
        return np.concatenate(there.hybrid(v, which, np.where(which, a, tau[0]), w))

    wanted = np.split(along(lambda s: hybrid(s, np.zeros(n, dtype=bool))), [n, 2 * n])
    got = dynamics.forward.partial_derivatives.by_kinematics(q, v, tau[0], external=w)
    assert_same(direction.product(got.a), wanted[0])
    assert_same(direction.product(got.multipliers), wanted[2])
    wanted = np.split(along(lambda s: hybrid(s, known)), [n, 2 * n])
    for by, change in zip(dynamics.hybrid.partial_derivatives.by_kinematics(
            q, v, known, a, tau[0], external=w), wanted):
        assert_same(direction.product(by), change)
    order = qr(dynamics.jacobian(q), mode='r', pivoting=True)[1]
    for passive, redundancy in ((1, LEAST_TORQUE), (2, LEAST_FORCE)):
        driven = np.ones(n, dtype=bool)  # passive are joints that the loops move apart
        driven[order[:min(passive, m)]] = False
        weight = 0.5 + rng.random(m if redundancy == LEAST_FORCE else n)
        least_torque = redundancy == LEAST_TORQUE and min(passive, m) < m
        needed = weight if least_torque or redundancy == LEAST_FORCE else np.ones(m)

        def inverse(s, driven=driven, needed=needed, least_torque=least_torque):
            direction.displace(there, s)
            return np.concatenate(there.inverse(v, a, driven, tau[0], needed, least_torque, w))

        back = dynamics.inverse.partial_derivatives.by_kinematics(
            q, v, a, tau=tau[0], actuated=driven, redundancy=redundancy,
            weights=weight, external=w)
        for by, change in zip(back, np.split(along(inverse), [n])):
            assert_same(direction.product(by), change)


@pytest.mark.parametrize('name', ALL)
def test_forces_and_gaps_beside_a_second_algorithm(name: str) -> None:
    """The equations of forces hold for each parameter (13.19), (13.20)."""
    dynamics, q, v, tau, w, rng = state(ALL[name])
    n, rows, mass = dynamics.model.nv, dynamics.jacobian(q), dynamics.tree.mass_matrix(q)
    found = dynamics.forward(q, v, tau[0], external=w)
    there = ParameterRows(dynamics, q, v, found.a)
    needs = there.needs(found.multipliers, w)
    for known in (np.zeros(n, dtype=bool), rng.random(n) < 0.3):
        by = dynamics.hybrid.partial_derivatives.by_kinematics(
            q, v, known, found.a, tau[0], external=w)
        a, forces, multipliers = map(there.columns, by)
        assert_same(mass @ a - rows.T @ multipliers - forces, -needs)
    gaps = kinematic_gaps(dynamics, q, v)
    assert_same(there.columns(gaps.position), there.position_changes())
    opened = turned_gaps(dynamics, q, v) @ there.columns(gaps.position)  # (12.56)
    assert_same(there.columns(gaps.velocity), there.velocity_changes() + opened)


@pytest.mark.parametrize('name', EVERY)
def test_accelerations_beside_a_second_algorithm(name: str) -> None:
    """Independent constraints on accelerations hold for each parameter (13.20)."""
    dynamics, q, v, tau, w, _ = state(EVERY[name])
    by = dynamics.forward.partial_derivatives.by_kinematics(q, v, tau[0], external=w)
    there = ParameterRows(dynamics, q, v, dynamics.forward(q, v, tau[0], external=w).a)
    assert_same(dynamics.jacobian(q) @ there.columns(by.a), -there.acceleration_changes())


class ClosedFamily:
    """A redundant machine whose parameters change so that its loops can stay closed."""

    def __init__(self, name: str) -> None:
        """Take the machine and its motion."""
        self.dynamics, self.q, self.v, self.tau, self.w, self.rng = state(REDUNDANT[name])
        joints = len(self.dynamics.model.joint_list)
        self.name, self.direction = name, self.rng.normal(size=(joints + 1, 3))

    def model(self, s):
        """Return the model at s; inertias stay."""
        model = self.dynamics.model
        joints, loops = [joint.placement for joint in model.joint_list], model.closures
        if self.name == 'bennett':
            one, other = bennett_links(0.5 + 0.3 * s, 0.3 - 0.2 * s, 0.9 + 0.1 * s)
            joints, frames = [np.eye(4), one, other], [(np.linalg.inv(other), one)]
        else:  # planar changes of a planar linkage
            moved = [expm(hat(s * np.array([0.0, 0.0, z, x, y, 0.0]))) for x, y, z in
                     self.direction]
            joints = [place @ change for place, change in zip(joints, moved)]
            frames = [(loop.frame_a @ moved[-1], loop.frame_b @ moved[0])
                      for loop in loops]
        for joint, place in zip(self.dynamics.model.joint_list, joints):
            model = rebuilt(model, joint.name, placement=place)
        return replace(model, closures=tuple(
            replace(loop, frame_a=a, frame_b=b) for loop, (a, b) in zip(loops, frames)))

    def at(self, s):
        """Return the dynamics, and a state on its constraints."""
        dynamics = ConstrainedDynamics(self.model(s))
        return (dynamics, *closed(dynamics, self.q, self.v))

    def parameters(self) -> Parameters:
        """Return the changes of all parameters."""
        here, change = self.dynamics.model, Parameters(self.dynamics.model)

        def twists(s):
            there = self.model(s)
            return np.array([log(np.linalg.inv(a) @ b) for a, b in (
                *((one.placement, other.placement)
                  for one, other in zip(here.joint_list, there.joint_list)),
                *((one.frame_a, other.frame_a)
                  for one, other in zip(here.closures, there.closures)),
                *((one.frame_b, other.frame_b)
                  for one, other in zip(here.closures, there.closures)))])
        n, m = len(here.joint_list), len(here.closures)
        change.placement[:], change.frame_a[:], change.frame_b[:] = np.split(
            difference(twists, stencil=SHORT), [n, n + m])
        return change


def bennett_links(a: float, b: float, alpha: float):
    """Return the poses along two links of Bennett's linkage, which any such numbers close."""
    return link(a, alpha), link(b, np.arcsin(b * np.sin(alpha) / a))


def log(pose):
    """Return the twist of a pose, by scipy."""
    x = logm(pose).real
    return np.array([x[2, 1], x[0, 2], x[1, 0], *x[:3, 3]])


def kinematic(by, change: Parameters):
    """Return how a quantity varies with placements and frames."""
    return (np.tensordot(by.by_placement, change.placement, 2)
            + np.tensordot(by.by_frame_a, change.frame_a, 2)
            + np.tensordot(by.by_frame_b, change.frame_b, 2))


@pytest.mark.parametrize('name', REDUNDANT)
def test_redundant_multipliers_follow_the_call(name: str) -> None:
    """Beside differences of the calls of machines with other parameters, loops being closed."""
    family = ClosedFamily(name)
    dynamics, q, v, w, tau = family.dynamics, family.q, family.v, family.w, family.tau[0]
    n, change = len(v), family.parameters()
    known, actuated = np.arange(n) == 0, np.arange(n) < n - 1
    a = dynamics.forward(q, v, tau, external=w).a
    inverse = [{'redundancy': kind, 'actuated': actuated, 'external': w}
               for kind in (LEAST_TORQUE, LEAST_FORCE)]

    def motion(s):
        there, q_s, v_s = family.at(s)
        ahead = there.forward(q_s, v_s, tau, external=w)
        mixed = there.hybrid(q_s, v_s, known, ahead.a, tau, external=w)
        back = [there.inverse(q_s, v_s, ahead.a, **options) for options in inverse]
        return np.concatenate([
            there.model.difference(q, q_s), v_s, ahead.a, ahead.multipliers, mixed.tau,
            mixed.multipliers,
            *(part for each in back for part in (each.tau, each.multipliers))])

    m = dynamics.m
    dq, dv, da, *wanted = np.split(difference(motion, 1e-3), np.cumsum(
        [n, n, n, m, n, m, n, m, n]))
    still = np.zeros(n)
    ahead, mixed, back = (each.partial_derivatives for each in (
        dynamics.forward, dynamics.hybrid, dynamics.inverse))
    by = ahead.by_kinematics(q, v, tau, external=w)
    product = ahead.product(q, v, tau, dq, dv, still, external=w)
    assert_same(product.a + kinematic(by.a, change), da, 1e-7, 1.0)
    assert_same(product.multipliers + kinematic(by.multipliers, change), wanted[0], 1e-7, 1.0)
    both = ahead.product(q, v, tau, dq, dv, still, external=w, parameters=change)
    assert_same(both.multipliers, wanted[0], 1e-7, 1.0)
    given = np.where(known, da, 0.0)
    by = mixed.by_kinematics(q, v, known, a, tau, external=w)
    product = mixed.product(q, v, known, a, tau, dq, dv, given, external=w)
    assert_same(product.tau + kinematic(by.tau, change), wanted[1], 1e-7, 1.0)
    assert_same(product.multipliers + kinematic(by.multipliers, change), wanted[2], 1e-7, 1.0)
    for options, force, reaction in zip(inverse, wanted[3::2], wanted[4::2]):
        by = back.by_kinematics(q, v, a, **options)
        product = back.product(q, v, a, dq, dv, da, **options)
        assert_same(product.tau + kinematic(by.tau, change), force, 1e-7, 1.0)
        assert_same(product.multipliers + kinematic(by.multipliers, change), reaction, 1e-7, 1.0)
    gaps = kinematic_gaps(dynamics, q, v).position
    assert_same(kinematic(gaps, change) + dynamics.jacobian(q) @ dq, np.zeros(m), 1e-8, 1.0)


@pytest.mark.parametrize('name', ('helical', 'floating'))
def test_axes_and_pitches_beside_models_that_differ(name: str) -> None:
    dynamics, q, v, tau, w, rng = state(EVERY[name])
    model = dynamics.model
    got = dynamics.forward.partial_derivatives.by_kinematics(q, v, tau[0], external=w).a

    def changed(joint, **options):
        other = ConstrainedDynamics(replace(
            rebuilt(model, joint.name, **options), closures=model.closures))
        return other.forward(q, v, tau[0], external=w, closed=False).a

    for j, joint in enumerate(model.joint_list):
        spec, x = JOINT_TYPES[joint.type_name], rng.normal(size=3)
        axes = {name: getattr(joint, name) for name, has in (
            ('axis', spec.has_axis), ('second_axis', spec.has_second_axis)) if has}
        if axes:
            wanted = difference(lambda s, joint=joint, axes=axes, x=x: changed(joint, **{
                name: turned(s * x, each) for name, each in axes.items()}), 1e-3, SHORT)
            assert_same(got.by_axis[:, j] @ x, wanted)
        else:
            assert not got.by_axis[:, j].any()
        if joint.type_name == 'helical':
            assert_same(got.by_pitch[:, j], difference(lambda s, joint=joint: changed(
                joint, pitch=joint.pitch + s), 1e-3, SHORT))
        else:
            assert not got.by_pitch[:, j].any()


@pytest.mark.parametrize('name', ALL)
def test_gaps_beside_models_that_differ(name: str) -> None:
    dynamics, q, v, _, _, rng = state(ALL[name])
    model, direction = dynamics.model, Direction(dynamics.model, rng)

    def opened(s):
        closures = tuple(replace(
            closure, frame_a=closure.frame_a @ expm(hat(s * a)),
            frame_b=closure.frame_b @ expm(hat(s * b)),
            pitch=closure.pitch + s * pitch * bool(closure.pitch),
            length=closure.length + s * length * bool(closure.length))
            for closure, a, b, pitch, length in zip(
                model.closures, *direction.frames, direction.pitches, direction.lengths))
        other = ConstrainedDynamics(replace(model, closures=closures))
        return np.array([other.residual(q), other.jacobian(q) @ v])

    direction.places = np.zeros_like(direction.places)
    for gaps, change in zip(kinematic_gaps(dynamics, q, v), difference(opened, stencil=SHORT)):
        assert_same(direction.product(gaps), change, floor=1.0)


@pytest.mark.parametrize('name', ALL)
def test_gaps_of_velocity_beside_complex_steps(name: str) -> None:
    dynamics, q, v, _, _, rng = state(ALL[name])
    direction, there = displaced(dynamics, q, rng)

    def speed(s):
        direction.displace(there, s)
        return there.rows(v)[0] @ v

    gaps = kinematic_gaps(dynamics, q, v)
    opened = turned_gaps(dynamics, q, v) @ direction.product(gaps.position)  # (12.56)
    assert_same(direction.product(gaps.velocity), along(speed) + opened, floor=1.0)


@pytest.mark.parametrize('name', ALL)
def test_gaps_by_the_placement_of_the_last_joint(name: str) -> None:
    dynamics, q, v, *_ = state(ALL[name])
    model, twist = dynamics.model, np.arange(6.0)
    joint = model.joint_list[-1]
    moved = difference(lambda s: ConstrainedDynamics(replace(
        rebuilt(model, joint.name, placement=joint.placement @ expm(hat(s * twist))),
        closures=model.closures, couplings=model.couplings)).residual(q), stencil=SHORT)
    gaps = kinematic_gaps(dynamics, q, v).position
    assert_same(gaps.by_placement[:, -1] @ twist, moved, floor=1.0)


def test_calibration_follows_an_assembly() -> None:
    """The joints of a four bar linkage follow the length of its coupler (law of cosines)."""
    dynamics, q, *_ = state(REDUNDANT['four bar'])
    crank, coupler, rocker, span = 0.2, 0.5, 0.4, 0.45
    gaps = kinematic_gaps(dynamics, q, np.zeros(3)).position
    longer = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])  # of frame a, which ends the coupler
    rows, free = dynamics.jacobian(q), np.array([False, True, True])
    moved = np.linalg.lstsq(rows[:, free], -gaps.by_frame_a[:, 0] @ longer, rcond=None)[0]

    def angle(length):  # of the rocker, the crank held
        x, y = crank * np.cos(q[0]) - span, crank * np.sin(q[0])
        reach = np.hypot(x, y)
        bend = np.arccos((rocker**2 + reach**2 - length**2) / (2 * rocker * reach))
        return np.arctan2(y, x) - np.copysign(bend, np.sin(np.arctan2(y, x) - q[2]))

    assert np.cos(angle(coupler) - q[2]) == pytest.approx(1.0, abs=1e-12)
    assert moved[1] == pytest.approx(difference(lambda s: angle(coupler + s)), rel=1e-9)


def test_refusals() -> None:
    dynamics, q, v, _, _, rng = state(EVERY['revolute'])
    with refused(LiedynError, ANY, expected=0.0):
        kinematic_gaps(dynamics, dynamics.model.integrate(q, rng.normal(size=len(v))), v)
