# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The limits of a request, and what loads its machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import InertiaStamped
from liedyn_interfaces.msg import RetimingFrameLimits, RetimingLimits
import numpy as np

from liedyn_ros.common.checks import Array, require_known
from liedyn_ros.common.errors import LiedynError, LimitError, NameSetError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia
from liedyn_ros.retiming import FrameLimits, MotionLimits

LIMIT_OF_FIELD = {'velocity': 'velocity', 'acceleration': 'acceleration', 'jerk': 'jerk',
                  'effort': 'torque', 'least_effort': 'least_torque', 'effort_rate': 'torque_rate',
                  'effort_per_velocity': 'torque_per_speed', 'power': 'power'}
LIMIT_FIELDS = {ours: field for field, ours in LIMIT_OF_FIELD.items()}
MAX_LIMITED_FRAMES, MAX_PAYLOADS = 20, 20
_ANY = 'least_effort', 'effort_per_velocity'  # which the limits check themselves
_FRAME = 'velocity', 'acceleration', 'angular_velocity', 'angular_acceleration'


def read_limits(model: Model, message: RetimingLimits) -> MotionLimits:
    """Return the limits of a message; coordinates that it does not name have the model's."""
    places = {name: k for k, name in enumerate(model.coordinate_names)}
    require_known(NameSetError, 'limits.joint_names', places, message.joint_names, 'coordinates')
    if len(set(message.joint_names)) < len(message.joint_names):
        raise NameSetError(f'limits.joint_names: expected each coordinate once, '
                           f'got {list(message.joint_names)}', names=message.joint_names)
    of_model: dict[str, Array] = {
        'velocity': model.limits.velocity, 'torque': model.limits.effort,
        'acceleration': model.limits.acceleration, 'jerk': model.limits.jerk,
        'least_torque': -model.limits.effort, 'torque_per_speed': np.zeros(model.nv)}
    found: dict[str, Any] = {}
    for field, name in LIMIT_OF_FIELD.items():
        given = getattr(message, field)
        if not given:
            continue
        if len(given) != len(message.joint_names):
            raise ShapeError(f'limits.{field}: expected {len(message.joint_names)} numbers for '
                             f'the joints named, or none, got {len(given)}')
        values = np.array(of_model.get(name, np.full(model.nv, np.inf)))
        values[[places[joint] for joint in message.joint_names]] = given
        wrong = [joint for joint, value in zip(message.joint_names, given)
                 if field not in _ANY and not value > 0.0]
        if wrong:
            raise LimitError(f'limits.{field}: expected numbers above 0, got '
                             f'{given[message.joint_names.index(wrong[0])]} for {wrong[0]}')
        found[name] = values
    return MotionLimits(**found, frames=_read_frames(model, message.frames))


def _read_frames(model: Model, messages: Sequence[RetimingFrameLimits]) -> list[FrameLimits]:
    """Return the limits of frames; 0 stands for none."""
    if len(messages) > MAX_LIMITED_FRAMES:
        raise ShapeError(f'limits.frames: expected at most {MAX_LIMITED_FRAMES}, got '
                         f'{len(messages)}')
    result = []
    for k, each in enumerate(messages):
        point = each.point.x, each.point.y, each.point.z
        try:
            model.frame_index(each.frame)
            result.append(FrameLimits(each.frame, point=point, **{
                name: getattr(each, name) or np.inf for name in _FRAME}))
        except LiedynError as error:
            raise type(error)(f'limits.frames[{k}]: {error}') from error
    return result


def loaded(dynamics: Dynamics | ConstrainedDynamics, payloads: Sequence[InertiaStamped]
           ) -> Dynamics | ConstrainedDynamics:
    """Return the dynamics of a machine with payloads; raises LiedynError naming the payload."""
    if not payloads:
        return dynamics
    if len(payloads) > MAX_PAYLOADS:
        raise ShapeError(f'payloads: expected at most {MAX_PAYLOADS}, got {len(payloads)}')
    builder = ModelBuilder.of(dynamics.model)
    for k, each in enumerate(payloads):
        of, com = each.inertia, each.inertia.com
        try:
            builder.add_payload(f'payload_{k}', _body(dynamics.model, each.header.frame_id),
                                SpatialInertia(of.m, (com.x, com.y, com.z), [
                                    [of.ixx, of.ixy, of.ixz], [of.ixy, of.iyy, of.iyz],
                                    [of.ixz, of.iyz, of.izz]]))
        except LiedynError as error:
            raise type(error)(f'payloads[{k}]: {error}') from error
    model = builder.build()
    return ConstrainedDynamics(model, dissipation=dynamics.tree.dissipation) if isinstance(
        dynamics, ConstrainedDynamics) else Dynamics(model, dissipation=dynamics.dissipation)


def _body(model: Model, frame: str) -> str:
    """Return the child body of a joint, or the frame as it is."""
    return model.joint(frame).child if frame in model.joints else frame
