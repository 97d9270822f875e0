# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Public calls refuse masked arrays, in the first call and where their kernels are compiled."""

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest
from support.machines.dynamics_cases import make_case
from support.machines.looped_machines import four_bar
from support.platforms.leg_types import example
from support.platforms.stewart_motion import GEOMETRY
from support.refusals import refused

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics import runge_kutta_munthe_kaas, stormer_verlet, TreeMotion
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.lie import se3, so3
from liedyn_ros.stewart import (
    leg_lengths, leg_rates, length_jacobian, linear_first, MonitoredTracker, PoseCertifier,
    PoseSolver, SmoothTrajectory, StewartDynamics)
from liedyn_ros.stewart.input.actuators import LegActuators
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.tracking.prediction import in_fixed_axes
from liedyn_ros.stewart.tracking.sensor_monitor import LengthSensor

Calls = dict[str, tuple[Callable[..., Any], tuple[Array, ...]]]


def of_trees() -> Calls:
    """Return calls on a tree, each with all of its arrays."""
    case = make_case(0, True)
    model, d, q, v, a = case.model, case.dynamics, case.q, case.v, case.a
    rows = np.stack([a, a])
    states = tuple(np.stack([x, x]) for x in (q, v, a))
    return {
        'inverse': (d.inverse, (q, v, a, case.external)),
        'forward': (d.forward, (q, v, a, case.external)),
        'hybrid': (d.hybrid, (q, v, np.arange(model.nv) < 3, a, a)),
        'inverse.time_derivatives': (d.inverse.time_derivatives, (q, v, rows)),
        'forward.time_derivatives': (d.forward.time_derivatives, (q, v, rows)),
        'forward.estimate_error': (d.forward.estimate_error, (q, v, rows, rows)),
        'inverse.batch': (d.inverse.batch, states), 'forward.batch': (d.forward.batch, states),
        'inverse.partial_derivatives': (d.inverse.partial_derivatives, (q, v, a)),
        'forward.partial_derivatives': (d.forward.partial_derivatives, (q, v, a)),
        'inverse.product': (d.inverse.partial_derivatives.product, (q, v, a, v, v, a)),
        'forward.gradient': (d.forward.partial_derivatives.gradient, (q, v, a, a)),
        'kinematics': (d.kinematics, (q, v, a)), 'mass_matrix': (d.mass_matrix, (q,)),
        'bias': (d.bias, (q, v)), 'kinetic_energy': (d.kinetic_energy, (q, v)),
        'momentum': (d.momentum, (q, v)), 'center_of_mass': (d.center_of_mass, (q,)),
        'runge_kutta': (
            lambda q, v, tau: runge_kutta_munthe_kaas.step(d, q, v, 1e-3, tau), (q, v, a)),
        'verlet': (lambda q, v, tau: stormer_verlet.step(d, q, v, 1e-3, tau), (q, v, a)),
        'integrate': (model.integrate, (q, v)), 'difference': (model.difference, (q, q))}


def of_loops() -> Calls:
    """Return calls on a machine with a loop."""
    model = four_bar()
    d = ConstrainedDynamics(model)
    q, zero = assemble(d), np.zeros(model.nv)
    return {
        'loop, inverse': (d.inverse, (q, zero, zero)),
        'loop, forward': (d.forward, (q, zero, zero)),
        'loop, hybrid': (d.hybrid, (q, zero, np.arange(model.nv) < 1, zero, zero)),
        'loop, jacobian': (d.jacobian, (q,)),
        'loop, product': (
            d.inverse.partial_derivatives.product, (q, zero, zero, zero, zero, zero)),
        'loop, gradient': (d.forward.partial_derivatives.gradient, (q, zero, zero, zero))}


def of_platforms() -> Calls:
    """Return calls on a Stewart platform."""
    geometry, home = example('6_3')
    lengths, six = leg_lengths(geometry, home), np.full(6, 0.01)
    solver, meter = PoseSolver(geometry), PlatformMeter(geometry)
    actuators = LegActuators(geometry.leg_names, np.ones(6), np.zeros(6))
    names, square = geometry.leg_names, np.eye(6)
    smooth = SmoothTrajectory(home, six, six, six)
    dynamics = StewartDynamics(GEOMETRY)
    tracker = MonitoredTracker(geometry, home)
    times, stamps = np.array([0.0, 1.0]), count(10**6, 10**6)
    return {
        'solve': (solver.solve, (lengths, home)),
        'solve_batch': (solver.solve_batch, (lengths[None], home)),
        'tracker': (lambda row: tracker.track(next(stamps), row), (lengths,)),
        'certify': (PoseCertifier(geometry).certify, (home, lengths)),
        'within_limits': (geometry.within_limits, (lengths,)),
        'lengths': (partial(actuators.lengths, names), (lengths,)),
        'rates': (partial(actuators.rates, names, lengths=lengths), (lengths,)),
        'forces': (partial(actuators.forces, names), (lengths,)),
        'pose at': (smooth.pose, (times,)), 'twist at': (smooth.twist, (times,)),
        'leg_lengths': (partial(leg_lengths, geometry), (home,)),
        'leg_rates': (partial(leg_rates, geometry), (home, six)),
        'length_jacobian': (partial(length_jacobian, geometry), (home,)),
        'measure': (meter.measure, (home,)),
        'platform inverse': (dynamics.inverse, (home, six, six)),
        'platform forward': (dynamics.forward, (home, six, six)),
        'in_fixed_axes': (in_fixed_axes, (square, home)),
        'linear_first': (linear_first, (square,)),
        'sensor': (partial(LengthSensor(np.zeros(3), six[:3], 1e-3).residual, home), (six[:1],))}


def of_groups() -> Calls:
    """Return calls on the groups."""
    pose, xi = np.eye(4), np.full(6, 0.1)
    return {
        'se3.exp': (se3.exp, (xi,)), 'se3.log': (se3.log, (pose,)),
        'se3.compose': (se3.compose, (pose, pose)), 'se3.adjoint': (se3.adjoint, (pose,)),
        'se3.right_jacobian': (se3.right_jacobian, (xi,)), 'so3.exp': (so3.exp, (xi[:3],)),
        'so3.log': (so3.log, (pose[:3, :3],)),
        'so3.from_quaternion': (so3.from_quaternion, (np.array((0.0, 0.0, 0.0, 1.0)),))}


def masked(array: Array) -> Any:
    """Return an array with its first entry masked."""
    mask = np.zeros(array.shape, dtype=bool)
    mask.flat[0] = True
    return np.ma.array(array, mask=mask)


@pytest.mark.parametrize('calls', [of_trees, of_loops, of_platforms, of_groups])
def test_public_calls_refuse_a_masked_array_in_any_place(calls: Callable[[], Calls]) -> None:
    passed = []
    for name, (call, arrays) in calls().items():
        for i in range(2 * len(arrays)):
            if i == len(arrays):
                call(*arrays)  # compiles the kernel, and binds it
            k = i % len(arrays)
            try:
                call(*arrays[:k], masked(arrays[k]), *arrays[k + 1:])
            except LiedynError as error:
                if 'without a mask' in str(error):
                    continue
            passed.append((name, k))
    assert passed == []


def test_a_motion_of_a_tree_refuses_masked_arrays() -> None:
    case = make_case(0, True)
    with refused(LiedynError, 'q'):
        TreeMotion(case.model, masked(case.q), np.stack([case.v, case.a]))
