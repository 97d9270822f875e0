# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A quadruped that stands and sways, by efforts of its reference, springs and dampers."""

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.control.robot_simulation import RobotSimulation
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    complete_velocity, ConstrainedDynamics, Contact, Contacts, projected_runge_kutta)
from liedyn_ros.lie import se3
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia, Visual

STEP = 1e-3  # s
SPRING, DAMPER = 60.0, 2.0  # N m/rad and N m s/rad, as such robots have them
SOLE, KNEE = 0.02, 0.2  # m, radius of a round foot, and length of a thigh and a shin
BENT = {'hip': 0.0, 'thigh': 0.7, 'shin': -1.4}  # rad
FEET = {'front left': (0.2, 0.15), 'front right': (0.2, -0.15),
        'back left': (-0.2, 0.15), 'back right': (-0.2, -0.15)}  # m, where their hips are
SWAY = np.array([0.0, 0.1, 0.0, 0.02, 0.01, 0.03])  # rad/s and m/s of the trunk, at most
RATE = 2.0  # rad/s of swaying


def quadruped() -> tuple[Model, Array]:
    """Return a robot of 14 kg, and how it stands with its feet on the ground."""
    builder = ModelBuilder('quadruped')
    builder.add_body('trunk', SpatialInertia(8.0, np.zeros(3), np.diag([0.04, 0.12, 0.14])))
    builder.add_joint('float', 'free', None, 'trunk')
    for foot, place in FEET.items():
        parent, at = 'trunk', [*place, 0.0]
        for part, length, axis, mass in (
                ('hip', 0.0, (1, 0, 0), 0.5), ('thigh', KNEE, (0, 1, 0), 0.8),
                ('shin', KNEE, (0, 1, 0), 0.2)):
            name = f'{foot} {part}'
            builder.add_body(name, SpatialInertia(
                mass, [0.0, 0.0, -0.5 * length], np.diag([0.002, 0.002, 0.0005])),
                [Visual('sphere', [0.5 * SOLE])])
            builder.add_joint(name, 'revolute', parent, name, axis=axis, placement=_at(at))
            parent, at = name, [0.0, 0.0, -length]
        builder.add_body(foot, None, [Visual('sphere', [SOLE])])
        builder.add_joint(f'{foot} ankle', 'fixed', parent, foot, placement=_at(at))
    model = builder.build()
    q = model.neutral()
    for foot in FEET:
        for part, angle in BENT.items():
            q[model.joint(f'{foot} {part}').qi] = angle
    q[2] = SOLE - Dynamics(model).frames.pose(q, foot)[2, 3]
    return model, q


def sway(mujoco: bool, duration: float, settled: float) -> tuple[float, float]:
    """Return the largest errors (deg, m) of the trunk from a time (s) on; our feet stand still."""
    model, goal = quadruped()
    standing = Contacts(model, {foot: Contact(foot) for foot in FEET}).holding(FEET, goal)
    motors = [joint.name for joint in model.joint_list if joint.type_name == 'revolute']
    q, v = goal.copy(), np.zeros(model.nv)
    simulation = RobotSimulation(model, q, STEP, ground=0.0) if mujoco else None
    errors = []
    for k in range(round(duration / STEP)):
        rate = _rate(standing, goal, k * STEP)
        change = _rate(standing, goal, (k + 0.5) * STEP) - _rate(standing, goal, (k - 0.5) * STEP)
        wanted = standing.hybrid(
            goal, rate, _trunk(model), change / STEP, np.zeros(model.nv)).a
        tau = standing.inverse(goal, rate, wanted, actuated=motors).tau
        error = model.difference(q, goal)
        tau[6:] += SPRING * error[6:] + DAMPER * (rate - v)[6:]
        if k * STEP > settled:
            errors.append((float(np.degrees(np.linalg.norm(error[:3]))),
                           float(np.linalg.norm(goal[:3] - q[:3]))))
        if simulation is None:
            q, v = projected_runge_kutta.step(standing, q, v, STEP, tau)
        else:
            simulation.command([tau[model.joint(name).vi] for name in simulation.driven])
            simulation.step()
            q, v = simulation.q.copy(), simulation.v.copy()
        middle = model.integrate(goal, 0.5 * STEP * rate)
        goal = model.integrate(goal, STEP * _rate(standing, middle, (k + 0.5) * STEP))
    return tuple(np.max(errors, axis=0))


def _at(position: list[float]) -> Array:
    return se3.from_rotation_translation(np.eye(3), position)


def _trunk(model: Model) -> Array:
    """Return the mask (nv,) of the trunk's velocity."""
    known = np.zeros(model.nv, dtype=bool)
    known[:6] = True
    return known


def _rate(standing: ConstrainedDynamics, q: Array, time: float) -> Array:
    """Return the velocity (nv,) of the reference at a time (s), its feet still."""
    v = np.zeros(standing.model.nv)
    v[:6] = SWAY * np.sin(RATE * time)
    return complete_velocity(standing, q, v, _trunk(standing.model))
