# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Dynamics as models of crocoddyl, whose solvers find optimal motions with our derivatives.

State and actions are those of a Dynamics or a ConstrainedDynamics: all joint types, closed loops,
actuators by their names. Needs crocoddyl (pip install crocoddyl), which no other module does.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, require_kind
from liedyn_ros.common.extras import require_module
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.frames import LOCAL_WORLD_ALIGNED
from liedyn_ros.dynamics.tree.names import Names
from liedyn_ros.model import Model
from liedyn_ros.model.configuration import difference_derivatives

require_module('crocoddyl', "install it with 'pip install crocoddyl'")
crocoddyl: Any = import_module('crocoddyl')


def state_of(model: Model) -> Any:
    """
    Return the states (q, v) of a Model for crocoddyl: nq + nv numbers, differences 2 nv.

    They are crocoddyl's own vectors where no joint has a quaternion.
    """
    return crocoddyl.StateVector(2 * model.nv) if model.nq == model.nv else ModelState(model)


class ModelState(crocoddyl.StateAbstract):
    """The states of a Model with quaternions; differences are along its tangents."""

    def __init__(self, model: Model) -> None:
        """Take a model."""
        self.model = model
        super().__init__(model.nq + model.nv, 2 * model.nv)

    def zero(self) -> Array:
        """Return the neutral configuration at rest."""
        return np.concatenate((self.model.neutral(), np.zeros(self.model.nv)))

    def rand(self) -> Array:
        """Return a random state."""
        rng = np.random.default_rng()
        return np.concatenate((self.model.random(rng), rng.normal(size=self.model.nv)))

    def diff(self, x0: Array, x1: Array) -> Array:
        """Return the dx (2 nv,) that leads from x0 to x1."""
        nq = self.model.nq
        return np.concatenate((self.model.difference(x0[:nq], x1[:nq]), x1[nq:] - x0[nq:]))

    def integrate(self, x: Array, dx: Array) -> Array:
        """Return the state after dx."""
        nq, nv = self.model.nq, self.model.nv
        return np.concatenate((self.model.integrate(x[:nq], dx[:nv]), x[nq:] + dx[nv:]))

    def Jdiff(self, x0: Array, x1: Array, which: Any = crocoddyl.Jcomponent.both
              ) -> list[Array] | Array:
        """Return the derivatives of diff by x0 and x1, or one of them."""
        nv, dx = self.model.nv, self.diff(x0, x1)
        at = difference_derivatives(self.model.link_table, dx[:nv])
        return _chosen(which, _whole(at.by_q0, -1.0), _whole(at.by_q1, 1.0))

    def Jintegrate(self, x: Array, dx: Array, which: Any = crocoddyl.Jcomponent.both
                   ) -> list[Array] | Array:
        """Return the derivatives of integrate by x and dx, or one of them."""
        nq, nv = self.model.nq, self.model.nv
        at = self.model.integrate_derivatives(x[:nq], dx[:nv])
        return _chosen(which, _whole(at.by_q, 1.0), _whole(at.by_dv, 1.0))

    def JintegrateTransport(self, x: Array, dx: Array, rows: Array,
                            which: Any) -> Array:
        """Return rows (2 nv, k) times the derivative of integrate that is named."""
        return np.asarray(self.Jintegrate(x, dx, which) @ rows)


class RobotActionModel(crocoddyl.DifferentialActionModelAbstract):
    """
    The accelerations of a robot under the forces of its actuators, with costs of crocoddyl.

    robot is a Dynamics, or a ConstrainedDynamics: then states keep A v as it is between nodes, and
    those at the start are to be closed. costs is a CostModelSum on state_of(robot.model).
    actuated names joints, or is a mask (nv,), by default that of the model. A step is one of
    crocoddyl's integrators, such as IntegratedActionModelRK.
    """

    def __init__(self, robot: Dynamics | ConstrainedDynamics, costs: Any,
                 actuated: ArrayLike | None = None) -> None:
        """Take a robot, its costs and its actuators."""
        if not isinstance(robot, Dynamics):
            require_kind('robot', robot, ConstrainedDynamics, 'or a Dynamics, as load returns')
        self.robot, self.costs, model = robot, costs, robot.model
        driven = model.actuated if actuated is None else Names(model).mask(
            'actuated', actuated)
        self._at = np.flatnonzero(driven)
        loops = isinstance(robot, ConstrainedDynamics)
        self._options: dict[str, Any] = {'closed': False} if loops else {}
        super().__init__(costs.state, len(self._at), costs.nr)

    def calc(self, data: Any, x: Array, u: Array | None = None) -> None:
        """Write accelerations and cost; without u the cost at the end."""
        if u is not None:
            data.xout = np.asarray(self.robot.forward(*self._given(x, u), **self._options))
        self.costs.calc(data.costs, x, *(() if u is None else (u,)))
        data.cost = data.costs.cost

    def calcDiff(self, data: Any, x: Array, u: Array | None = None) -> None:
        """Write the derivatives of both."""
        if u is not None:
            at = self.robot.forward.partial_derivatives(*self._given(x, u), **self._options)
            data.Fx, data.Fu = np.hstack((at.by_q, at.by_v)), at.by_tau[:, self._at]
        self.costs.calcDiff(data.costs, x, *(() if u is None else (u,)))

    def createData(self) -> Any:
        """Return the data of a node."""
        return _RobotActionData(self)

    def _given(self, x: Array, u: Array) -> tuple[Array, Array, Array]:
        model = self.robot.model
        tau = np.zeros(model.nv)
        tau[self._at] = u
        return x[:model.nq], x[model.nq:], tau


class _RobotActionData(crocoddyl.DifferentialActionDataAbstract):

    def __init__(self, model: RobotActionModel) -> None:
        super().__init__(model)
        self.shared = crocoddyl.DataCollectorAbstract()
        self.costs = model.costs.createData(self.shared)
        self.costs.shareMemory(self)


class StateError(crocoddyl.ResidualModelAbstract):
    """
    How far a state is from another one, along the tangents of the latter.

    crocoddyl's ResidualModelState takes the derivative for the identity (3.2.1), which it is not
    where joints have quaternions.
    """

    def __init__(self, state: Any, wanted: ArrayLike, nu: int) -> None:
        """Take the states, the one that is wanted, and the number of controls."""
        self.wanted = as_array('wanted', wanted, (state.nx,))
        super().__init__(state, state.ndx, nu, True, True, False)

    def calc(self, data: Any, x: Array, _: Array | None = None) -> None:
        """Write the residual."""
        data.r = self.state.diff(self.wanted, x)

    def calcDiff(self, data: Any, x: Array, _: Array | None = None) -> None:
        """Write its derivative."""
        found = self.state.Jdiff(self.wanted, x, crocoddyl.Jcomponent.second)
        data.Rx = found if isinstance(found, np.ndarray) else found[0]


class FramePosition(crocoddyl.ResidualModelAbstract):
    """How far the origin of a robot's frame is from a point (3,) in the ground, m."""

    def __init__(self, robot: Dynamics | ConstrainedDynamics, state: Any, frame: str,
                 point: ArrayLike, nu: int) -> None:
        """Take a robot, its state, the frame, the point and the number of controls."""
        self.robot, self.frame, self.point = robot, frame, as_array('point', point, (3,))
        super().__init__(state, 3, nu, True, False, False)  # of q alone

    def calc(self, data: Any, x: Array, _: Array | None = None) -> None:
        """Write the residual."""
        q = x[:self.robot.model.nq]
        data.r = self.robot.frames.pose(q, self.frame)[:3, 3] - self.point

    def calcDiff(self, data: Any, x: Array, _: Array | None = None) -> None:
        """Write its derivative."""
        nv, q = self.robot.model.nv, x[:self.robot.model.nq]
        rows = np.zeros((3, 2 * nv))
        rows[:, :nv] = self.robot.frames.jacobian(q, self.frame, LOCAL_WORLD_ALIGNED)[3:]
        data.Rx = rows


def _whole(by_q: Array, by_v: float) -> Array:
    """Return the derivative of both parts of a state."""
    n = len(by_q)
    result = np.zeros((2 * n, 2 * n))
    result[:n, :n], result[n:, n:] = by_q, by_v * np.eye(n)
    return result


def _chosen(which: Any, first: Array, second: Array) -> list[Array] | Array:
    """Return one derivative or both, as crocoddyl asks."""
    parts = crocoddyl.Jcomponent
    return {parts.first: first, parts.second: second}.get(which, [first, second])
