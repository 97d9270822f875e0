# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Forces of cables, contacts and loops keep their ends along a path, and bind."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support.comparison import assert_same
from support.refusals import refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError, ModelError, NameSetError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, Contact, Contacts
from liedyn_ros.model import load_model, ModelBuilder, SpatialInertia
from liedyn_ros.retiming import (
    ClosureLimits, contact_limits, LoopPath, MotionLimits, OnlineScaling, PathSamples, retime,
    Retimed, RetimedSamples)

HOOK, LOAD, FORCE, GRAVITY = 1.0, 3.0, 120.0, 9.81
LENGTH = 2.0  # of paths, m
CRANKS = {'left_crank_joint': 12.0, 'right_crank_joint': 12.0}


@cache
def hoist() -> ConstrainedDynamics:
    """Return a hook that is driven up and down, from which a load hangs on a cable."""
    builder = ModelBuilder('hoist')
    for name, mass in (('hook', HOOK), ('load', LOAD)):
        builder.add_body(name, SpatialInertia(mass, [0, 0, 0], 1e-3 * np.eye(3)))
        builder.add_joint(f'{name}_slide', 'prismatic', None, name, axis=[0, 0, 1],
                          actuated=name == 'hook')
    builder.add_closure('cable', 'rod', 'hook', 'load', length=0.5)
    return ConstrainedDynamics(builder.build())


def hoisted(limits: MotionLimits, **options: float) -> Retimed:
    """Return a run of the hoist, up and below its hook."""
    path = LoopPath(hoist(), [[0.0], [LENGTH]], ['hook_slide'], [0.0, -0.5])
    return retime(hoist(), path, limits, **options)


def fastest(push: float, brake: float) -> float:
    """Return the time of a double integrator from rest to rest, m/s^2."""
    speed = (2.0 * LENGTH * push * brake / (push + brake))**0.5
    return speed / push + speed / brake


@pytest.mark.parametrize('least', [5.0, -np.inf])
def test_a_cable_pulls_in_the_time_of_a_double_integrator(least: float) -> None:
    # Upwards the force of the drive counts; downwards the load falls no faster than by gravity.
    run = hoisted(MotionLimits(torque={'hook_slide': FORCE}, closures=[
        ClosureLimits('cable', most=-least)]), intervals=200)
    whole = HOOK + LOAD
    brake = (FORCE / whole + GRAVITY) if least == -np.inf else GRAVITY - least / LOAD
    wanted = fastest(FORCE / whole - GRAVITY, brake)
    assert wanted <= run.duration < 1.003 * wanted
    at = run.at(np.linspace(0.0, run.duration, 2001))
    solved = hoist().inverse.batch(at.q, at.v, at.a)
    by_newton = LOAD * (at.a[:, 1] + GRAVITY)
    assert_same(-solved.multipliers[:, 0], by_newton, 1e-9)
    if np.isfinite(least):
        assert least - 1e-9 < by_newton.min() < least + 0.05
        assert run.used['closure_force', 'cable'].max() <= 1.0
        assert ('closure_force', 'cable') in run.binding
    else:
        assert by_newton.min() < -1.0


def test_the_rate_of_a_cable_force_is_kept() -> None:
    run = hoisted(MotionLimits(torque={'hook_slide': FORCE}, closures=[
        ClosureLimits('cable', most=-1.0, rate=200.0)]))
    at = run.at(np.linspace(0.0, run.duration, 2001))
    rate = np.abs(LOAD * at.jerk[:, 1])
    assert 0.99 * 200.0 < rate.max() <= 200.0 * (1.0 + 1e-9)
    assert (LOAD * (at.a[:, 1] + GRAVITY)).min() >= 1.0 - 1e-9
    assert ('closure_force_rate', 'cable') in run.binding


class Shift:
    """A path of one coordinate of a pusher; the others stay."""

    length = LENGTH

    def __init__(self, coordinate: int) -> None:
        """Take the coordinate."""
        self._at = coordinate

    def __call__(self, s: Array) -> PathSamples:
        """Return the samples."""
        q = np.zeros((len(s), 4))
        v = q.copy()
        q[:, self._at], v[:, self._at] = s, 1.0
        return PathSamples(q, v, np.zeros_like(q), np.zeros_like(q))


BASE, ACROSS, UP = 4.0, 2.0, 1.0
WEIGHT = (BASE + ACROSS + UP) * GRAVITY


def pushed(contact: Contact, coordinate: int, least: float = 0.0) -> Retimed:
    """Return a run of a base on the ground that moves a mass along x (2) or along z (3)."""
    builder = ModelBuilder('pusher')
    for name, mass, parent, axis in (
            ('rail', 1.0, None, [1, 0, 0]), ('base', BASE, 'rail', [0, 0, 1]),
            ('across', ACROSS, 'base', [1, 0, 0]), ('up', UP, 'base', [0, 0, 1])):
        builder.add_body(name, SpatialInertia(mass, [0, 0, 0], 1e-3 * np.eye(3)))
        builder.add_joint(f'{name}_slide', 'prismatic', parent, name, axis=axis,
                          actuated=name != 'base')  # the rail: no drive is needed
    model = builder.build()
    machine = Contacts(model, {'foot': contact}).holding(['foot'], model.neutral())
    return retime(machine, Shift(coordinate), MotionLimits(
        torque={'across_slide': 200.0, 'up_slide': 200.0},
        closures=contact_limits(machine, {'foot': contact}, least=least, sides=32)),
        intervals=400)


@pytest.mark.full
def test_a_base_slips_no_earlier_than_its_friction_allows() -> None:
    most = 0.3 * WEIGHT / ACROSS
    run = pushed(Contact('base', friction=0.3), 2)
    assert fastest(most, most) <= run.duration < 1.006 * fastest(most, most)
    assert {name for name, _ in run.binding} == {'least_closure_force'}


@pytest.mark.parametrize('kind', ['point', 'sliding', 'surface'])
def test_a_base_is_not_lifted_off_the_ground(kind: str) -> None:
    run = pushed(Contact('base', kind), 3, 20.0)
    wanted = fastest(200.0 / UP - GRAVITY, (WEIGHT - 20.0) / UP)
    assert wanted <= run.duration < 1.003 * wanted
    force = WEIGHT + UP * run.at(np.linspace(0.0, run.duration, 2001)).a[:, 3]
    assert 20.0 - 1e-9 < force.min() < 20.5


@cache
def five_bar(driven: int) -> ConstrainedDynamics:
    """Return a five-bar whose cranks are driven, or all its joints."""
    model = load_model(config_file('five_bar.yaml'))
    return ConstrainedDynamics(model if driven == 2 else replace(model, joint_list=tuple(
        replace(joint, actuated=True) for joint in model.joint_list)))


def swung(driven: int, closures: list[ClosureLimits], **further: float) -> Retimed:
    """Return a run of the five-bar."""
    machine = five_bar(driven)
    return retime(machine, LoopPath(machine, [[0.3, 2.0], [0.8, 2.4], [0.6, 1.8]], list(CRANKS)),
                  MotionLimits(torque=dict.fromkeys(machine.model.joints, 12.0),
                               closures=closures, **further), intervals=60)


ALONG = np.array([0.0, 0.0, 0.0, 0.6, 0.8, 0.0])


def tip(run: Retimed) -> tuple[Array, Array, Array, RetimedSamples]:
    """Return the force of the tip along a direction, its rate, wrenches (K, 6), and samples."""
    at = run.at(np.linspace(0.0, run.duration, 1001))
    found = run.dynamics.inverse.batch(at.q, at.v, np.stack([at.a, at.jerk], axis=1))
    return *(found.wrenches[:, :, 0] @ ALONG).T, found.wrenches[:, 0, 0], at


@pytest.mark.parametrize('driven', [2, 4])
def test_a_loop_keeps_the_force_of_its_tip_with_more_drives_too(driven: int) -> None:
    machine, free = five_bar(driven), swung(driven, [])
    force, *_ = tip(free)
    limits = ClosureLimits('tip', 0.7 * force.min(), 0.7 * force.max(), 300.0, ALONG)
    run = swung(driven, [limits])
    force, rate, wrenches, at = tip(run)
    assert limits.least - 1e-9 <= force.min() and force.max() <= limits.most + 1e-9
    assert 0.99 * limits.rate <= np.abs(rate).max() <= limits.rate * (1.0 + 1e-9)
    assert run.duration > 1.01 * free.duration
    assert {('closure_force', limits.label), ('closure_force_rate', limits.label)} <= set(
        run.binding)
    for k in range(0, 1001, 100):  # the tree alone, cut at the tip, needs these torques
        external = on_bodies(machine, at.q[k], wrenches[k])
        assert_same(machine.tree.inverse(at.q[k], at.v[k], at.a[k], external), at.torque[k], 1e-9)


def on_bodies(machine: ConstrainedDynamics, q: Array, wrench: Array) -> Array:
    """Return the wrenches (B, 6) on bodies of what the tip applies to its second one."""
    closure = machine.model.closures[0]
    result = np.zeros((len(machine.model.bodies), 6))
    poses = [machine.frames.pose(q, name) for name in (closure.body_a, closure.body_b)]
    here = poses[1] @ closure.frame_b
    for pose, name, sign in zip(poses, (closure.body_a, closure.body_b), (-1.0, 1.0)):
        seen = np.linalg.inv(pose) @ here
        moment, force = seen[:3, :3] @ wrench[:3], seen[:3, :3] @ wrench[3:]
        result[machine.model.body_index(name)] = sign * np.concatenate(
            [moment + np.cross(seen[:3, 3], force), force])
    return result


@pytest.mark.parametrize(('limits', 'error', 'name'), [
    (lambda: [ClosureLimits('cable', most=-30.0)], LimitError, 'cable'),
    (lambda: [ClosureLimits('cable', least=-10.0)], LimitError, 'cable'),
    (lambda: [ClosureLimits('cabel', most=0.0)], ModelError, 'cabel'),
    (lambda: [ClosureLimits('cable', most=0.0, along='force_z')], ModelError, 'force_z'),
    (lambda: [ClosureLimits('cable', most=0.0)] * 2, NameSetError, 'closures'),
    (lambda: [ClosureLimits('cable', 1.0, 1.0)], LimitError, 'closures[cable].least'),
    (lambda: [ClosureLimits('cable', most=np.nan)], LimitError, 'closures[cable].least'),
    (lambda: [ClosureLimits('cable', rate=0.0)], LimitError, 'closures[cable].rate'),
    (lambda: [ClosureLimits('cable', along=[0.0, 0.0, 1.0])], LiedynError,
     'closures[cable].along')])
def test_bad_limits_of_closures_are_refused(limits, error: type[Exception], name: str) -> None:
    with refused(error, name):
        hoisted(MotionLimits(torque={'hook_slide': FORCE}, closures=limits()))


def test_rows_are_to_be_chosen_and_trees_have_no_closures() -> None:
    with refused(ModelError, 'closures[tip].along', got='None'):
        swung(2, [ClosureLimits('tip', most=10.0)])
    tree = five_bar(2).tree
    with refused(ModelError, 'closures[tip]'):
        retime(tree, Shift(0), MotionLimits(torque=1.0, closures=[ClosureLimits('tip')]))
    with refused(LimitError, 'sides', got=2):
        contact_limits(five_bar(2), {}, sides=2)


def test_a_scaled_run_takes_other_rates_of_closures_but_not_other_ends() -> None:
    def limits(most: float, rate: float) -> MotionLimits:
        return MotionLimits(torque={'hook_slide': FORCE}, closures=[
            ClosureLimits('cable', most=most, rate=rate)])

    scaling = OnlineScaling(hoisted(limits(0.0, 200.0)))
    scaling.use(limits(0.0, 100.0))
    for _ in range(1500):
        scaling.step(1e-3)
    assert scaling.step(1e-3).expected <= 1.001
    with refused(LimitError, 'closure_force'):
        scaling.use(limits(-1.0, 200.0))
