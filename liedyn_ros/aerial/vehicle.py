# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An aerial manipulator: a free base with rotors, and joints of one degree of freedom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError, ModelError
from liedyn_ros.model import Model, RotorAllocation, RotorCommand

FREE = slice(0, 6)  # the free base in v, a and tau
JOINTS = slice(6, None)


@dataclass(frozen=True)
class Command:
    """
    Commands of the actuators, within their limits.

    rotors: speeds and their wrench. torques: (n,), N m or N, in the order of
    AerialManipulator.joints.
    at_limit: the names of all rotors and joints at a limit.
    """

    rotors: RotorCommand
    torques: Array
    at_limit: tuple[str, ...]


class AerialManipulator:
    """
    A model whose first joint is free: its base carries the rotors, its other joints move the arms.

    base is the name of the base body, rotors and joints are the names of the actuators. The
    vectors v, a and tau of the model begin with the base: its twist, its derivative, its wrench,
    all in the base frame. One number for each joint follows.
    """

    def __init__(self, model: Model) -> None:
        """Check the model; raises ModelError naming the part that does not fit."""
        first, *others = model.joint_list
        if first.type_name != 'free':
            raise ModelError(f'joint {first.name}: expected a free joint first, '
                             f'got type {first.type_name}')
        if (first.placement != np.eye(4)).any():
            raise ModelError(f'joint {first.name}: expected no placement, so that it moves the '
                             f'base from the origin, got {first.placement.tolist()}')
        for joint in others:
            if joint.v_slice.stop - joint.v_slice.start > 1:
                raise ModelError(f'joint {joint.name}: expected one degree of freedom, '
                                 f'got type {joint.type_name}')
        self.model = model
        self.allocation = RotorAllocation(model.rotors)
        self.base, self.rotors = first.child, self.allocation.names
        if model.rotors[0].body != self.base:
            raise ModelError(f'rotors: expected on body {self.base}, got {model.rotors[0].body}')
        self.joints = tuple(joint.name for joint in others if joint.type_name != 'fixed')
        self._effort = model.limits.effort[JOINTS]

    def require_torques(self, torques: ArrayLike) -> Array:
        """Return joint torques (n,), or raise ShapeError, NotFiniteError or LimitError."""
        torques = as_array('torques', torques, (len(self.joints),))
        for name, torque, limit in zip(self.joints, torques, self._effort):
            if abs(torque) > limit:
                raise LimitError(f'effort of {name}: expected {-limit:g} to {limit:g} N m, '
                                 f'got {torque:g}', names=(name,), expected=(-limit, limit),
                                 got=float(torque))
        return torques

    def command(self, tau: ArrayLike) -> Command:
        """Return the command that gives forces tau (nv,), or the nearest feasible one."""
        tau = as_array('tau', tau, (self.model.nv,))
        rotors = self.allocation.speeds(tau[FREE])
        torques = np.clip(tau[JOINTS], -self._effort, self._effort)
        weak = [name for name, wanted, given in zip(self.joints, tau[JOINTS], torques)
                if wanted != given]
        return Command(rotors, torques, (*rotors.at_limit, *weak))
