# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Simulation of any robot by MuJoCo, under efforts of its joints."""

from collections.abc import Sequence
import math

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.control.actuators import COMMAND_TIMEOUT, Drives
from liedyn_ros.dynamics import Names
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.mujoco_twin import MujocoTwin
from liedyn_ros.model import JOINT_TYPES, Model


class RobotSimulation:
    """
    The state q (nq,), v (nv,) of an arm, a legged robot or a machine with closed loops.

    driven are the names of the joints that take efforts: those of one coordinate with a drive.
    limits (n,) are those of their efforts, N m or N.
    Until the first command the robot is held in place, as on a stand. A refused command changes
    nothing. Without one for `command_timeout` (s) the drives close their brakes, which open with
    the next: dry friction within the limits of effort, else within what the weight can ask for.
    """

    command_timeout = COMMAND_TIMEOUT

    def __init__(self, model: Model, q: ArrayLike, dt: float = 1e-3, ground: float | None = None,
                 box: Sequence[float] = ()) -> None:
        """
        Start at rest, with steps dt (s); ground and box are those of MujocoTwin, as errors.

        Raises LiedynError for a configuration that leaves loops open: MuJoCo pulls them shut.
        """
        if model.closures or model.couplings:
            ConstrainedDynamics(model).require_closed(q, np.zeros(model.nv))
        self.model, self.dt, self._steps = model, dt, 0
        self._twin = MujocoTwin(model, dt, ground, box=box)
        self._twin.set_state(q, np.zeros(model.nv))
        joints = [joint for joint in Names(model).others.values()
                  if joint.actuated and JOINT_TYPES[joint.type_name].nv == 1]
        self.driven = tuple(joint.name for joint in joints)
        self._places = np.array([joint.vi for joint in joints], np.intp)
        self.limits = model.limits.effort[self._places]
        self._friction = np.array([joint.friction[0] for joint in joints])
        self._tau: Array = np.zeros(model.nv)
        self._heard, self.drives = -math.inf, Drives.STANDING

    @property
    def q(self) -> Array:
        """Return the configuration (nq,)."""
        return self._twin.q

    @property
    def v(self) -> Array:
        """Return the velocity (nv,)."""
        return self._twin.v

    @property
    def efforts(self) -> Array:
        """Return the numbers (nv,) of all drives, N m or N, without their brakes."""
        return self._tau

    @property
    def lowest(self) -> float:
        """Return the height (m) of the lowest point that can touch the ground."""
        return self._twin.lowest()

    @property
    def time(self) -> float:
        """Return the time since the start, s."""
        return self._steps * self.dt

    @property
    def moves(self) -> bool:
        """Return whether a command has come."""
        return self._heard >= 0.0

    def command(self, efforts: ArrayLike) -> None:
        """Take efforts of the driven joints, N m or N; raises ShapeError or LimitError."""
        given = as_array('efforts', efforts, (len(self.driven),))
        for name, effort, limit in zip(self.driven, given, self.limits):
            if abs(effort) > limit:
                raise LimitError(f'effort of {name}: expected {-limit:g} to {limit:g}, got '
                                 f'{effort:g}', names=(name,), expected=(-limit, limit),
                                 got=float(effort))
        self._tau[self._places], self._heard = given, self.time

    def step(self) -> None:
        """Advance by dt; raises NotFiniteError where the motion diverged."""
        if self.moves:
            silent = self.time - self._heard > self.command_timeout
            drives = Drives.BRAKED if silent else Drives.COMMANDED
            if drives is not self.drives:
                self.drives = drives
                self._brake(silent)
            self._twin.step(self._tau)
        self._steps += 1

    def touches(self) -> dict[str, Array]:
        """Return the wrench (6,) of what touches each body, by name, as MujocoTwin.touches."""
        return self._twin.touches()

    def _brake(self, closed: bool) -> None:
        """Close the brakes, or open them."""
        held = self._friction
        if closed:
            self._tau[self._places] = 0.0
            held = held + np.where(np.isfinite(self.limits), self.limits, self._most())
        self._twin.brake(dict(zip(self.driven, held.tolist())))

    def _most(self) -> float:
        """Return the greatest effort that the weight can ask of a joint, N m, and N if more."""
        arms = [np.linalg.norm(joint.placement[:3, 3]) for joint in self.model.joint_list]
        arms += [np.linalg.norm(body.inertia.center_of_mass) for body in self.model.body_list
                 if body.inertia is not None]
        return float(self.model.mass * np.linalg.norm(self.model.gravity) * max(1.0, sum(arms)))
