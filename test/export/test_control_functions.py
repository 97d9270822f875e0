# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Observer, task space, minimal coordinates and inverse kinematics from C, beside Python's."""

import ctypes

import numpy as np
import pytest
from support.c_library.c_library import built, HOST
from support.comparison import assert_same
from support.least_squares import within_constraints
from support.machines.looped_machines import five_bar, four_bar, random_looped
from support.machines.random_models import random_model

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    assemble, ConstrainedDynamics, DifferentialKinematics, InverseKinematics, MinimalCoordinates,
    MomentumObserver, POINT, POSE, TaskSpace)
from liedyn_ros.dynamics.frames import LOCAL
from liedyn_ros.export import loops_bytes, model_bytes
from liedyn_ros.model import load_model, ModelBuilder, pose as placed, SpatialInertia
from liedyn_ros.stewart import load_geometry, model_state, platform_model

RANGE, NOT_POSE, NOT_CONVERGED, UNMOVED, BROKEN = 7, 17, 19, 23, 24


@pytest.fixture(scope='module')
def library():
    """Return the library, for calls by ctypes."""
    return ctypes.CDLL(str(built([], '-shared', '-fPIC')))


def aligned(count):
    """Return so many bytes at a multiple of 64."""
    buffer = np.zeros(count + 64, dtype=np.uint8)
    return buffer[-buffer.ctypes.data % 64:][:count]


class Machine:
    """A model file by ctypes; begin is how names of its functions begin."""

    def __init__(self, library, content, begin):
        """Open it, and prepare a work area."""
        self.library, self.begin, self.content = library, begin, aligned(len(content))
        self.content[:] = np.frombuffer(content, dtype=np.uint8)
        self.machine, order = ctypes.c_void_p(), [] if begin == 'loops_' else [0]
        assert self._of('open')(ctypes.c_void_p(self.content.ctypes.data), ctypes.c_size_t(
            len(content)), ctypes.byref(self.machine)) == 0
        size = self._of('work')
        size.restype = ctypes.c_size_t
        self.work = aligned(size(self.machine, *order))
        assert self._of('init')(self.machine, *order, ctypes.c_void_p(self.work.ctypes.data),
                                ctypes.c_size_t(len(self.work))) == 0

    def _of(self, name):
        return getattr(self.library, f'liedyn_{self.begin}{name}')

    def call(self, name, *arguments):
        """Return the code of a function."""
        return self._of(name)(self.machine, ctypes.c_void_p(self.work.ctypes.data), *(
            each if isinstance(each, int) else ctypes.c_void_p(
                None if each is None else each.ctypes.data) for each in arguments))


@HOST
@pytest.mark.parametrize('seed', range(4))
def test_an_observer_has_the_digits_of_python(library, seed):
    model, rng = random_model(seed, 7, seed % 2 == 0), np.random.default_rng(seed)
    machine, nv = Machine(library, model_bytes(model), ''), model.nv
    observer, state, gain = MomentumObserver(Dynamics(model), gain=40.0), np.zeros((2, nv)), 40.0
    mass, matrix, found = np.empty((nv, nv)), np.empty((nv, nv)), np.empty(nv)
    for k in range(5):
        q, (v, tau) = model.random(rng), rng.normal(size=(2, nv))
        wanted = observer(q, v, tau, 0.01)
        settings = np.array([gain, 0.01 if k else 0.0])
        assert machine.call('observe_external', q, v, tau, None, settings, state, mass, matrix,
                            found) == 0
        assert np.array_equal(found, wanted)
        assert np.array_equal(mass, Dynamics(model).mass_matrix(q))
    settings[0] = -1.0
    assert machine.call('observe_external', q, v, tau, None, settings, state, mass, matrix,
                        found) != 0


def task_arrays(tasks, nv):
    """Return arrays of response, mobility, inertia, directions and sizes of tasks."""
    return [np.empty((tasks, nv)), *(np.empty((tasks, tasks)) for _ in range(3)), np.empty(tasks)]


@HOST
@pytest.mark.parametrize('frames', [1, 2])
@pytest.mark.parametrize('seed', range(4))
def test_task_space_is_that_of_python(library, seed, frames):
    model, rng = random_model(seed, 7, seed % 2 == 0), np.random.default_rng(seed)
    machine, nv, dynamics = Machine(library, model_bytes(model), ''), model.nv, Dynamics(model)
    q, (v, tau) = model.random(rng), rng.normal(size=(2, nv))
    at = TaskSpace(dynamics, dict(zip(model.bodies[::-1], (POSE, POINT)[:frames])))(q, v)
    a, jacobian, tasks = np.empty(nv), at.jacobian, len(at.jacobian)
    arrays = response, mobility, inertia, _, sizes = task_arrays(tasks, nv)
    assert machine.call('task_space', q, v, tau, None, tasks, jacobian, a, *arrays) == 0
    assert np.array_equal(a, dynamics.forward(q, v, tau))
    assert_same(response, jacobian @ at.response, 1e-9)
    assert_same(mobility, jacobian @ at.response @ jacobian.T, 1e-9)
    assert (sizes > 1e-9 * sizes.max()).sum() == at.rank
    assert np.array_equal(inertia, at.inertia)
    assert machine.call('task_space', q, v, tau, None, 0, jacobian, a, *arrays) == RANGE


@HOST
@pytest.mark.parametrize('seed', range(4))
def test_differential_kinematics_has_the_bits_of_python(library, seed):
    model, rng = random_model(seed, 7, False), np.random.default_rng(seed)
    machine, nv, frame = Machine(library, model_bytes(model), ''), model.nv, model.bodies[-1]
    q, dt, twist = model.random(rng), 0.01, 0.3 * rng.normal(size=6)
    follow = DifferentialKinematics(
        Dynamics(model), frame, within_limits=False, acceleration=20.0, gain=4.0)
    here = Dynamics(model).frames.pose(q, frame)
    wanted = follow(q, {frame: here}, dt, twists={frame: twist})
    jacobian, most = np.empty((6, nv)), np.minimum(20.0 * dt, model.limits.velocity)
    assert machine.call('frame_jacobian', q, model.frame_index(frame), 1, jacobian) == 0
    size, v, given = 6 * nv + 19, np.empty(nv), (jacobian, twist, np.full(nv, 1e-6), -most, most)
    rest = model.integrate(q, 0.1 * rng.normal(size=nv))
    for back in (None, 4.0 * model.difference(q, rest)):
        arguments = *given, back, size, np.empty((size, size)), v
        assert machine.call('velocity_within', 6, 0, *arguments) == 0
        assert_same(v, follow(q, {frame: here}, dt, twists={frame: twist},
                              rest=None if back is None else rest), 1e-9)
        if back is None:
            assert np.array_equal(v, within_constraints(jacobian, twist, 0, *given[2:]))
    assert np.abs(v - wanted).max() > 1e-3
    assert machine.call('velocity_within', 6, 7, *arguments) == RANGE
    assert machine.call('velocity_within', 6, 0, *given, None, size - 1, *arguments[-2:]) == RANGE
    jacobian[0], twist[0] = 1.0, 1.0 + most.sum()
    assert machine.call('velocity_within', 6, 1, *arguments) == BROKEN


@HOST
@pytest.mark.parametrize('seed', range(4))
def test_differential_kinematics_of_loops_has_the_bits_of_python(library, seed):
    model, q = random_looped(seed, ('spherical', 'rod'), 10)
    robot, rng, frame = ConstrainedDynamics(model), np.random.default_rng(seed), model.bodies[-1]
    machine, nv, dt = Machine(library, loops_bytes(model), 'loops_'), model.nv, 0.01
    twist, damping = rng.normal(size=6), np.full(nv, 1e-6)
    q = model.integrate(q, 1e-3 * rng.normal(size=nv))  # with gaps
    rest = model.integrate(q, 0.3 * rng.normal(size=nv))
    follow = DifferentialKinematics(robot, frame, within_limits=False, gain=4.0, acceleration=50.0)
    targets, v = {frame: robot.frames.pose(q, frame)}, np.empty(nv)
    _, to_targets = follow._tasks(q, targets, {frame: twist})
    assert_same(to_targets, twist, 1e-12)
    for posture in (None, rest):
        wanted = follow(q, targets, dt, twists={frame: twist}, rest=posture)
        most = np.minimum(50.0 * dt, model.limits.velocity)
        size = robot.m + 6 * nv + 19
        arguments = (robot.frames.jacobian(q, frame, LOCAL), to_targets, damping, -most, most,
                     None if posture is None else 4.0 * model.difference(q, posture))
        settings, scratch = np.array([dt, 4.0]), np.empty((size, size))
        assert machine.call('velocity_within', q, settings, 6, *arguments, size, scratch, v) == 0
        assert np.array_equal(v, wanted)
    assert machine.call(
        'velocity_within', q, settings, 6, *arguments, size - 1, scratch, v) == RANGE
    assert machine.call('velocity_within', q, settings, 6, *arguments[:3], most, most, None, size,
                        scratch, v) == BROKEN  # every joint at its limit: the loops open


def spinning_rod():
    """Return a crank that lifts a slide by a rod between ball joints, which spins freely."""
    builder, tip = ModelBuilder('rod'), placed([0.1, 0.0, 0.0])
    builder.add_body('crank', SpatialInertia(0.1, [0.05, 0.0, 0.0], 1e-4 * np.eye(3)))
    builder.add_joint('motor', 'revolute', None, 'crank', axis=[0.0, -1.0, 0.0])
    builder.add_body('slide', SpatialInertia(1.0, [0.0, 0.0, 0.0], 0.01 * np.eye(3)))
    builder.add_joint('out', 'prismatic', None, 'slide', axis=[0.0, 0.0, 1.0],
                      placement=placed([0.1, 0.0, 0.2]), actuated=False)
    builder.add_body('rod', SpatialInertia(0.05, [0.0, 0.0, 0.1], np.diag([1e-4, 1e-4, 1e-5])))
    builder.add_joint('ball', 'spherical', 'crank', 'rod', placement=tip, actuated=False)
    builder.add_closure('head', 'spherical', 'rod', 'slide',
                        placement_a=placed([0.0, 0.0, 0.2]))
    return builder.build()


MACHINES = {'four-bar': four_bar, 'five-bar': five_bar, 'rod': spinning_rod,
            'spherical': lambda: random_looped(80, ('spherical',), 10).model,
            'floating': lambda: random_looped(81, ('rod', 'revolute'), 9, floating=True).model}


def coupled():
    """Return a four-bar with a gear beside it, which its crank turns."""
    builder = ModelBuilder.of(four_bar())
    builder.add_body('gear', SpatialInertia(1.0, [0.1, 0.0, 0.0], 0.01 * np.eye(3)))
    builder.add_joint('gear_joint', 'revolute', None, 'gear', axis=[0.0, 0.0, 1.0])
    builder.add_coupling('gear_joint', four_bar().joints[0], -2.0, 0.0)
    return builder.build()


GEOMETRY = load_geometry(config_file('stewart_geometry.yaml'))
HOME = {'platform': model_state(GEOMETRY, GEOMETRY.home, np.zeros(6))[0]}
OBSERVED = {**MACHINES, 'coupled': coupled, 'platform': lambda: platform_model(GEOMETRY)}


@HOST
@pytest.mark.parametrize('name', MACHINES)
def test_minimal_coordinates_are_those_of_python(library, name):
    model, rng = MACHINES[name](), np.random.default_rng(2)
    dynamics = ConstrainedDynamics(model)
    least, q = MinimalCoordinates(dynamics), assemble(dynamics)
    known = least.known
    machine, nv = Machine(library, loops_bytes(model), 'loops_'), model.nv
    rates = rng.normal(size=least.model.nv)
    v, flags = least.velocity(q, rates), known.astype(np.uint8)
    motions, rate, mass = (np.empty((nv, nv)) for _ in range(3))
    bias = np.empty(nv)
    assert machine.call('independent', q, v, flags, None, motions, rate, mass, bias) == 0
    wanted = least.motions_and_rate(q, rates)
    assert np.array_equal(motions[:, known], wanted.motions)
    assert np.array_equal(rate[:, known], wanted.rate)
    assert np.array_equal(mass[np.ix_(known, known)], least.mass_matrix(q))
    assert np.array_equal(bias[known], least.bias(q, rates))
    for other in (motions.T, rate.T, mass, bias):
        assert not other[~known].any()
    for chosen, code in ((0 * flags, UNMOVED), (flags | 1, BROKEN)):
        assert machine.call(
            'independent', q, v, chosen, None, motions, rate, mass, bias) == code


@HOST
@pytest.mark.parametrize('name', MACHINES)
def test_task_space_of_loops_is_that_of_python(library, name):
    model = MACHINES[name]()
    dynamics, nv = ConstrainedDynamics(model), model.nv
    q, known = assemble(dynamics), MinimalCoordinates(dynamics).known
    machine = Machine(library, loops_bytes(model), 'loops_')
    at = TaskSpace(dynamics, {model.bodies[-1]: POSE, model.bodies[0]: POINT})(q, np.zeros(nv))
    arrays = response, mobility, inertia, _, sizes = task_arrays(len(at.jacobian), nv)
    flags = known.astype(np.uint8)
    for _ in range(2):  # which finds the work area as the first call leaves it
        assert machine.call('task_space', q, flags, len(at.jacobian), at.jacobian, *arrays) == 0
        assert_same(response, at.jacobian @ at.response, 1e-10, floor=1e-6)
        assert_same(mobility, at.jacobian @ at.response @ at.jacobian.T, 1e-10, floor=1e-6)
        assert (sizes > 1e-9 * sizes.max()).sum() == at.rank
        assert np.array_equal(inertia, at.inertia)
    assert machine.call('task_space', q, flags, -1, at.jacobian, *arrays) == RANGE
    assert machine.call('task_space', q, 0 * flags, len(at.jacobian), at.jacobian, *arrays) == (
        UNMOVED)


@HOST
@pytest.mark.parametrize('name', OBSERVED)
def test_an_observer_of_loops_has_the_digits_of_python(library, name):
    model, rng = OBSERVED[name](), np.random.default_rng(3)
    dynamics, nv = ConstrainedDynamics(model), model.nv
    observer, least = MomentumObserver(dynamics), MinimalCoordinates(dynamics)
    q = HOME[name] if name in HOME else assemble(dynamics)
    machine, zeros = Machine(library, loops_bytes(model), 'loops_'), np.zeros((1, nv))
    known = least.known
    jacobians = [np.empty((nv, nv)) for _ in range(3)]  # which share the work area
    state, motions, found, flags = np.zeros((2, nv)), np.zeros((nv, nv)), np.empty(nv), (
        known.astype(np.uint8))
    for k in range(4):
        v, tau = least.velocity(q, 0.1 * rng.normal(size=least.model.nv)), rng.normal(size=nv)
        wanted = observer(q, v, tau, 0.01)
        assert machine.call('forward_jacobians', q, v, tau[None], None, zeros.copy(),
                            *jacobians) == 0
        settings = np.array([50.0, 0.01 if k else 0.0])
        assert machine.call('observe_external', q, v, tau, flags, None, settings, state, motions,
                            found) == 0
        assert np.array_equal(found[known], wanted)
        assert not found[~known].any()
        assert np.array_equal(motions[:, known], least.motions(q))
        q = least.model.integrate(q, 0.01 * v[known])
    assert np.abs(wanted).max() > 0.1
    settings[1] = -1.0
    assert machine.call('observe_external', q, v, tau, flags, None, settings, state, motions,
                        found) != 0


@HOST
@pytest.mark.parametrize('robot', ['aerial_manipulator.yaml', 'five_bar.yaml'])
def test_targets_are_reached_as_in_python(library, robot):
    model, rng = load_model(config_file(robot)), np.random.default_rng(4)
    dynamics = ConstrainedDynamics(model) if model.closures else Dynamics(model)
    start = assemble(dynamics) if model.closures else model.neutral()
    kind = {model.bodies[-1]: POINT} if model.closures else [model.bodies[-1]]
    machine = Machine(library, loops_bytes(model, reach=kind), 'loops_')
    solver, frame = InverseKinematics(dynamics, kind), model.bodies[-1]
    closure = len(model.closures)
    for _ in range(5):
        there = assemble(dynamics, model.integrate(start, 0.2 * rng.normal(size=model.nv)))
        pose = dynamics.frames.pose(there, frame)
        wanted = solver({frame: pose}, start)
        assert wanted.reached and wanted.starts == 1
        found = np.empty(model.nq)
        assert machine.call('move', closure, np.ascontiguousarray(pose)) == 0
        assert machine.call('assemble', 0, start, None, 1, found, None) == 0
        assert np.array_equal(found, wanted.q)
        found, rest = start.copy(), model.random(rng)
        assert machine.call('reach', closure, found, rest, None, 1) == 0
        assert np.array_equal(found, solver({frame: pose}, start, rest=rest).q)
    held = np.zeros(model.nv, dtype=np.uint8)
    held[:2], found = 1, start.copy()
    stays = InverseKinematics(dynamics, kind, locked=model.coordinate_names[:2],
                              within_limits=False)
    off = stays({frame: pose}, start, starts=1)
    assert off.reached == (not model.closures)  # which both cranks hold
    assert machine.call('reach', closure, found, None, held, 0) == (
        0 if off.reached else NOT_CONVERGED)
    assert np.array_equal(found, off.q)
    pose[2, 3] += 100.0
    assert machine.call('move', closure, pose) == 0
    assert machine.call('assemble', 0, start, None, 1, found, None) == (
        0 if not model.closures else NOT_CONVERGED)  # a floating base follows
    assert machine.call('move', 99, pose) == RANGE
    pose[0, 0] += 1.0
    assert machine.call('move', closure, pose) == NOT_POSE
    if model.closures:
        assert machine.call('move', 0, np.eye(4)) == RANGE  # which holds no frame to the ground
