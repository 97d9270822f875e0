# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The motion of a machine in complex arithmetic: its end's derivatives by where it begins.

Each joint is a pose matrix T with T' = T [S v], so no chart and no bracket is used. A displacement
of the start along an imaginary direction comes out as the imaginary part of the end.
"""

import numpy as np
from support.witnesses.complex_loops import ComplexLoops
from support.witnesses.complex_step import ComplexTree, hat, STEP

from liedyn_ros.common.checks import Array
from liedyn_ros.model import Model


class MovingTree(ComplexTree):
    """A tree whose joints stand where a motion has brought them: steps (N, 4, 4)."""

    def __init__(self, model: Model, q, dissipation: bool) -> None:
        """Begin at a configuration."""
        super().__init__(model, q, dissipation)
        self.steps = None
        placed = [ComplexTree.move(self, i, np.zeros(self.nv)) for i in range(model.link_table.N)]
        self.steps = np.array([np.linalg.inv(place) @ x
                               for place, x in zip(self.placement, placed)])

    def move(self, i, eta):
        """Return the pose of link i in its parent."""
        return self.placement[i] @ self.steps[i] @ self._turn(i, eta)

    def displace(self, eta) -> None:
        """Displace the joints by small eta."""
        self.steps = np.array([x @ self._turn(i, eta) for i, x in enumerate(self.steps)])

    def displacement(self) -> Array:
        """Return the displacement that the imaginary parts are, over STEP."""
        eta = np.zeros(self.nv)
        for i, x in enumerate(self.steps):
            change = np.linalg.solve(x.real, x.imag / STEP)
            twist = np.array([change[2, 1], change[0, 2], change[1, 0], *change[:3, 3]])
            eta[self.own(i)] = np.linalg.lstsq(self.screws(i).real, twist, rcond=None)[0]
        return eta

    def rates(self, v):
        """Return T' of all joints."""
        return np.array([x @ hat(self.screws(i) @ v[self.own(i)])
                         for i, x in enumerate(self.steps)])

    def _turn(self, i, eta):
        return np.eye(4) + hat(self.screws(i) @ eta[self.own(i)])


def transition_of(model: Model, q, v, tau, dt: float, direction, dissipation: bool) -> Array:
    """
    Return how the state (eta, dv) after dt changes along a direction (eta, dv, dtau) (3 nv,).

    The machine may have closures; the forces tau are held.
    """
    n, loops = model.nv, ComplexLoops(model, q)
    loops.tree = tree = MovingTree(model, q, dissipation)
    tree.displace(1j * STEP * direction[:n])
    given, free = tau + 1j * STEP * direction[2 * n:], np.zeros(n, dtype=bool)
    shape = tree.steps.shape

    def rate(state):
        tree.steps, now = state[:-n].reshape(shape), state[-n:]
        a = loops.hybrid(now, free, given)[0] if model.closures else tree.forward(now, given)
        return np.concatenate([tree.rates(now).ravel(), a])

    start = np.concatenate([tree.steps.ravel(), v + 1j * STEP * direction[n:2 * n]])
    end = extrapolated(rate, start, dt)
    tree.steps = end[:-n].reshape(shape)
    return np.hstack([tree.displacement(), end[-n:].imag / STEP])


def extrapolated(rate, start, dt: float, parts=(2, 4, 6, 8)):
    """Return the state after one step by midpoint rules, extrapolated to order eight (Gragg)."""
    rows = []
    for count in parts:
        h = dt / count
        before, now = start, start + h * rate(start)
        for _ in range(count - 1):
            before, now = now, before + 2.0 * h * rate(now)
        rows.append(0.5 * (before + now + h * rate(now)))
        for j in range(len(rows) - 1, 0, -1):  # in h^2, from the last row back
            ratio = (count / parts[j - 1])**2
            rows[j - 1] = rows[j] + (rows[j] - rows[j - 1]) / (ratio - 1.0)
    return rows[0]
