# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Calls of the everyday kernels, on small machines, that compile them or load them."""

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained import (
    assemble, complete_acceleration, complete_velocity, ConstrainedDynamics, LEAST_FORCE,
    LoopTracker, mobility)
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.linearization.closed_loops import linearize_constrained
from liedyn_ros.model import ModelBuilder, pose, SpatialInertia

STATES = 2  # of a batch; any number will do


def two_bars(rods: int = 1) -> ConstrainedDynamics:
    """Return two bars that rods connect, a machine to warm up with; redundant from two rods on."""
    builder = ModelBuilder('two_bars')
    inertia = SpatialInertia(1.0, (0.5, 0.0, 0.0), np.eye(3))
    for bar, x in (('left', 0.0), ('right', 1.0)):
        builder.add_body(bar, inertia)
        builder.add_joint(f'{bar}_joint', 'revolute', None, bar, axis=(0.0, 1.0, 0.0),
                          placement=pose([x, 0.0, 0.0]))
    end = pose([0.0, 0.0, 1.0])
    for k in range(rods):
        builder.add_closure(f'rod_{k}', 'rod', 'left', 'right', placement_a=end, placement_b=end,
                            length=1.0)
    return ConstrainedDynamics(builder.build())


def warm_up_trees() -> None:
    """Call the kernels of one state of a tree, and those of its time derivatives."""
    warm_up_states()
    dynamics, q = _pendulum()
    orders = np.zeros((2, 1))
    dynamics.inverse.time_derivatives(q, q, orders)
    dynamics.forward.time_derivatives(q, q, orders)
    dynamics.hybrid.time_derivatives(q, q, ['pivot'], orders, orders)


def warm_up_states() -> None:
    """Call the kernels of one state of a tree."""
    dynamics, q = _pendulum()
    dynamics.inverse(q, q, q)
    dynamics.forward(q, q, q)
    dynamics.hybrid(q, q, ['pivot'], q, q)
    dynamics.kinematics(q)
    for of_configuration in (
            dynamics.mass_matrix, dynamics.inverse_mass_matrix, dynamics.gravity_vector,
            dynamics.spring_forces, dynamics.center_of_mass, dynamics.centroidal_map,
            dynamics.potential_energy, dynamics.frames.poses):
        of_configuration(q)
    for of_motion in (dynamics.coriolis_matrix, dynamics.kinetic_energy, dynamics.momentum,
                      dynamics.centroidal_map_rate):
        of_motion(q, q)
    dynamics.center_of_mass_motion(q, q, q)
    warm_up_frames()
    dynamics.model.integrate(q, q)
    dynamics.model.difference(q, q)


def warm_up_frames() -> None:
    """Call the kernels of one frame of a tree."""
    dynamics, q = _pendulum()
    dynamics.frames.pose(q, 'bob')
    dynamics.frames.jacobian(q, 'bob')
    dynamics.frames.twist(q, q, 'bob')
    dynamics.frames.acceleration(q, q, q, 'bob')


def warm_up_batches() -> None:
    """Call the kernels of many states of a tree."""
    dynamics, _ = _pendulum()
    states = np.zeros((STATES, 1))
    dynamics.inverse.batch(states, states, states)
    dynamics.forward.batch(states, states, states)
    dynamics.forward.batch_time_derivatives(states, states, np.zeros((STATES, 2, 1)))
    dynamics.frames.poses_batch(states)
    dynamics.frames.jacobian_batch(states, 'bob')
    for of_states in (dynamics.mass_matrix_batch, dynamics.gravity_vector_batch,
                      dynamics.spring_forces_batch, dynamics.center_of_mass_batch):
        of_states(states)
    dynamics.momentum_batch(states, states)
    dynamics.coriolis_matrix_batch(states, states)
    dynamics.model.integrate_batch(states, states)


def warm_up_loops() -> None:
    """Call the kernels of closed loops."""
    dynamics = two_bars()
    q, v = assemble(dynamics), np.zeros(2)
    dynamics.forward(q, v, v)
    dynamics.inverse(q, v, v, redundancy=LEAST_FORCE)
    dynamics.jacobian(q)
    for machine in (dynamics, two_bars(rods=2)):  # of redundant constraints: other kernels
        model = linearize_constrained(machine, q, v, v)
    model.discrete(1.0)  # imports what a step needs
    dynamics.model.difference(q, q)  # as that does near a singular state
    mobility(dynamics, q)  # as well
    dynamics.inverse.batch(q[None], v[None], np.zeros((1, 2, 2)))  # as retiming calls them
    LoopTracker(dynamics, ['left_joint'], start=q).update(q[:1])
    known = np.array([True, False])
    complete_acceleration(dynamics, q, complete_velocity(dynamics, q, v, known),
                          np.zeros((2, 2)), known)


def _pendulum() -> tuple[Dynamics, Array]:
    """Return a pendulum and its zero."""
    builder = ModelBuilder('pendulum')
    builder.add_body('bob', SpatialInertia(1.0, (0.0, 0.0, -1.0), np.zeros((3, 3))))
    builder.add_joint('pivot', 'revolute', None, 'bob', axis=(1.0, 0.0, 0.0))
    return Dynamics(builder.build()), np.zeros(1)
