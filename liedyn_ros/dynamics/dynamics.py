# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Inverse, forward and hybrid dynamics of a model, and what else its controllers ask for."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, require_finite
from liedyn_ros.common.errors import SingularError
from liedyn_ros.dynamics.batch.batch import Batch
from liedyn_ros.dynamics.data import Workspace
from liedyn_ros.dynamics.inputs import borrowed, copied, known, mask, output, refuse, stop
from liedyn_ros.dynamics.kernels.centroidal import (
    ENTRIES, KINETIC, MASS, MOMENT, MOMENTUM, POTENTIAL, totals)
from liedyn_ros.dynamics.kernels.coriolis import BLOCKS, coriolis_matrix
from liedyn_ros.dynamics.kernels.hybrid import DONE, hybrid
from liedyn_ros.dynamics.kernels.inverse import inverse
from liedyn_ros.dynamics.kernels.kinematics import jacobian, kinematics
from liedyn_ros.dynamics.kernels.mass_matrix import mass_matrix
from liedyn_ros.dynamics.kernels.rows import DAMPING, FRICTION
from liedyn_ros.dynamics.time_derivatives.time_derivatives import HigherOrder
from liedyn_ros.jit.bound_kernel import BoundKernel
from liedyn_ros.model import Model


class Kinematics(NamedTuple):
    """
    The motion of all named bodies, in the order of model.bodies.

    poses (B, 4, 4) in the ground; twists and accelerations (B, 6), angular first, of the frame of
    each body in its own axes; an acceleration is the derivative of the six numbers of the twist.
    """

    poses: Array
    twists: Array
    accelerations: Array


class Dynamics:
    """
    The dynamics M(q) a + b(q, v) = tau of a model.

    Arrays are flat: q (nq,), v, a and tau (nv,), laid out as the model says; SI units. external
    are wrenches (B, 6), moment (N m) before force (N), that the environment applies to the named
    bodies in the order of model.bodies, in the frame of each body about its origin, gravity
    excluded. Results are new arrays, or out where it is given; out must not share memory with an
    input. An object works in tables of its own: use one per thread.

    With dissipation, joints feel the damping and Coulomb friction of the model, damping v +
    friction sign(v) against the motion. At rest that is zero: there is no stiction.

    All methods raise ShapeError, NotFiniteError, NotInGroupError for a quaternion whose norm is
    off 1 by over 1e-6, or LimitError for numbers so large that a result is not finite.
    """

    def __init__(self, model: Model, *, dissipation: bool = True) -> None:
        """Lay out the tables of a model."""
        self.model = model
        self.dissipation = dissipation
        self.workspace = Workspace(model.link_table, dissipation)
        topology, links = self.workspace.topology, self.workspace.links
        self._inverse = BoundKernel(inverse, topology, links, self.workspace.coordinates)
        self._hybrid = BoundKernel(hybrid, topology, links, self.workspace.coordinates)
        self._mass_matrix = BoundKernel(mass_matrix, topology, links)
        self._q_shape, self._v_shape = (model.nq,), (model.nv,)
        self._bodies = len(model.bodies)
        self._zero = np.zeros(model.nv)

    def inverse(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                external: ArrayLike | None = None, out: Array | None = None) -> Array:
        """Return the joint forces tau (nv,) of a motion (Kim, Table 2)."""
        tau = output(out, self._v_shape)
        if external is None and self._inverse.attempt(q, v, a, tau):
            return tau
        q, v, a = self._position(q), self._rate('v', v), self._rate('a', a)
        if not self._run(self._inverse, external, q, v, a, tau):
            refuse(self.model, '', q, v=v, a=a)
        return tau

    def forward(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                external: ArrayLike | None = None, out: Array | None = None) -> Array:
        """
        Return the accelerations a (nv,) under joint forces (Kim, Table 3).

        Raises SingularError naming a coordinate that moves no inertia.
        """
        a = output(out, self._v_shape)
        if external is None and self._hybrid.attempt(q, v, a, tau) == DONE:
            return a
        q, v, tau = self._position(q), self._rate('v', v), self._rate('tau', tau)
        code = self._run(self._hybrid, external, q, v, a, tau)
        if code != DONE:
            stop(self.model, code, '', q, v=v, tau=tau)
        return a

    def hybrid(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
               tau: ArrayLike, external: ArrayLike | None = None) -> tuple[Array, Array]:
        """
        Return all accelerations and all joint forces, each (nv,) (Kim, Table 4).

        prescribed (nv,) is True for the velocity coordinates, those of a free base included,
        whose acceleration is given in a; the force of the others is given in tau. What a and tau
        hold elsewhere is not read. Raises SingularError as forward does.
        """
        given = mask('prescribed', prescribed, self.model.nv)
        q, v = self._position(q), self._rate('v', v)
        a, tau = copied('a', a, self._v_shape), copied('tau', tau, self._v_shape)
        self.workspace.prescribe(given)
        try:
            code = self._run(self._hybrid, external, q, v, a, tau)
        finally:
            self.workspace.prescribe(False)
        if code != DONE:
            stop(self.model, code, '', q, v=v, **known(given, a, tau))
        return a, tau

    def inverse_series(self, q: ArrayLike, motion: ArrayLike, order: int,
                       external: ArrayLike | None = None) -> Array:
        """
        Return tau and its time derivatives to an order (order + 1, nv) (theory 7.19 to 7.25).

        motion (order + 2, nv) is v and its derivatives to order + 1, a first of them; external
        (order + 1, B, 6) has derivatives too. A derivative is always that of the numbers in the
        array. Coulomb friction counts as constant: its jump where a rate turns has no derivative.

        Raises LimitError for an order outside 0 to 30, ShapeError for missing derivatives.
        """
        return self._higher.inverse(q, motion, order, external)

    def forward_series(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, order: int,
                       external: ArrayLike | None = None) -> Array:
        """
        Return a and its time derivatives to an order (order + 1, nv), inverse_series undone.

        tau (order + 1, nv) and external (order + 1, B, 6) have derivatives. Rounding grows with
        each order, on long light chains by much. Raises what inverse_series and forward raise.
        """
        return self._higher.forward(q, v, tau, order, external)

    def hybrid_series(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
                      tau: ArrayLike, order: int, external: ArrayLike | None = None
                      ) -> tuple[Array, Array]:
        """
        Return all of a and of tau with their derivatives to an order, each (order + 1, nv).

        prescribed (nv,) is as for hybrid and holds at every order; a and tau (order + 1, nv) are
        read where they are given. Raises what inverse_series and forward raise.
        """
        return self._higher.hybrid(q, v, prescribed, a, tau, order, external)

    def inverse_batch(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                      external: ArrayLike | None = None) -> Array:
        """Return inverse of each of K states: q (K, nq), v and a (K, nv), external (K, B, 6)."""
        return self._many.inverse(q, v, a, external)

    def forward_batch(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                      external: ArrayLike | None = None) -> Array:
        """Return forward of each of K states: q (K, nq), v and tau (K, nv), external (K, B, 6)."""
        none = np.zeros(self.model.nv, dtype=bool)
        return self._many.hybrid(q, v, none, tau, tau, external)[0]

    def hybrid_batch(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike, a: ArrayLike,
                     tau: ArrayLike, external: ArrayLike | None = None) -> tuple[Array, Array]:
        """Return hybrid of each of K states, with one mask (nv,) for all of them."""
        return self._many.hybrid(q, v, prescribed, a, tau, external)

    def inverse_series_batch(self, q: ArrayLike, motion: ArrayLike, order: int,
                             external: ArrayLike | None = None) -> Array:
        """Return inverse_series of each of K states; every input has an axis of K before it."""
        return self._many.inverse_series(q, motion, order, external)

    def forward_series_batch(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, order: int,
                             external: ArrayLike | None = None) -> Array:
        """Return forward_series of each of K states; every input has an axis of K before it."""
        none = np.zeros(self.model.nv, dtype=bool)
        return self._many.hybrid_series(q, v, none, tau, tau, order, external)[0]

    def hybrid_series_batch(self, q: ArrayLike, v: ArrayLike, prescribed: ArrayLike,
                            a: ArrayLike, tau: ArrayLike, order: int,
                            external: ArrayLike | None = None) -> tuple[Array, Array]:
        """Return hybrid_series of each of K states, with one mask (nv,) for all of them."""
        return self._many.hybrid_series(q, v, prescribed, a, tau, order, external)

    def mass_matrix(self, q: ArrayLike, out: Array | None = None) -> Array:
        """Return M (nv, nv)."""
        matrix = output(out, 2 * self._v_shape)
        if self._mass_matrix.attempt(q, matrix):
            return matrix
        q = self._position(q)
        if not self._mass_matrix(q, matrix):
            refuse(self.model, '', q)
        return matrix

    def bias(self, q: ArrayLike, v: ArrayLike, external: ArrayLike | None = None,
             out: Array | None = None) -> Array:
        """Return b (nv,), the joint forces of a motion without acceleration (3.6)."""
        return self.inverse(q, v, self._zero, external, out)

    def gravity_vector(self, q: ArrayLike, out: Array | None = None) -> Array:
        """Return the joint forces (nv,) that hold the machine at rest."""
        return self.inverse(q, self._zero, self._zero, None, out)

    def resistance(self, v: ArrayLike) -> Array:
        """Return the joint forces (nv,) that overcome damping and Coulomb friction."""
        v, table = self._rate('v', v), self.workspace.coordinates
        return table[:, DAMPING] * v + table[:, FRICTION] * np.sign(v)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """
        Return C (nv, nv) with C v = bias - gravity_vector without dissipation and wrenches.

        It is the admissible one of Ali et al., Lemma 1: Mdot - 2 C is skew-symmetric.
        """
        q, v, matrix = self._position(q), self._rate('v', v), output(out, 2 * self._v_shape)
        space = self.workspace
        if not coriolis_matrix(space.topology, space.links, self._blocks, q, v, matrix):
            refuse(self.model, '', q, v=v)
        return matrix

    def kinematics(self, q: ArrayLike, v: ArrayLike | None = None,
                   a: ArrayLike | None = None) -> Kinematics:
        """Return the motion of all named bodies; v and a are zero where they are not given."""
        q = self._position(q)
        v = self._zero if v is None else self._rate('v', v)
        a = self._zero if a is None else self._rate('a', a)
        motion = Kinematics(np.empty((self._bodies, 4, 4)), np.empty((self._bodies, 6)),
                            np.empty((self._bodies, 6)))
        space = self.workspace
        if not kinematics(space.topology, space.links, space.body_row, space.body_placement,
                          q, v, a, *motion):
            refuse(self.model, '', q, v=v, a=a)
        return motion

    def body_jacobian(self, q: ArrayLike, body: str, out: Array | None = None) -> Array:
        """
        Return J (6, nv) with J v the twist of the frame of a body in its own axes.

        Raises ModelError for a name that is not in the model.
        """
        return self._jacobian(q, body, False, out)

    def spatial_jacobian(self, q: ArrayLike, body: str, out: Array | None = None) -> Array:
        """
        Return J (6, nv) with J v the spatial twist Ad_T V of a body of pose T and body twist V.

        Raises ModelError for a name that is not in the model.
        """
        return self._jacobian(q, body, True, out)

    def center_of_mass(self, q: ArrayLike) -> Array:
        """
        Return the centre of mass (3,) of the moving bodies in the ground, m.

        Raises SingularError where they have no mass.
        """
        result = self._totals(q, self._zero)
        mass = result[MASS]
        if not mass > 0.0:
            raise SingularError(f'mass: expected moving bodies with mass, got {mass} kg')
        return result[MOMENT:MOMENT + 3] / mass

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> float:
        """Return the kinetic energy, J."""
        return float(self._totals(q, v)[KINETIC])

    def potential_energy(self, q: ArrayLike) -> float:
        """Return the energy of the moving bodies in the field of gravity, J, 0 at the origin."""
        return float(self._totals(q, self._zero)[POTENTIAL])

    def momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return (6,) in the ground: angular momentum about its origin, then linear."""
        return self._totals(q, v)[MOMENTUM:].copy()

    def _position(self, q: ArrayLike) -> Array:
        return borrowed('q', q, self._q_shape)

    def _rate(self, name: str, value: ArrayLike) -> Array:
        return borrowed(name, value, self._v_shape)

    def _run(self, kernel: BoundKernel, external: ArrayLike | None, *arguments: Array) -> Any:
        space = self.workspace
        if external is None:
            return kernel(*arguments)
        wrenches = borrowed('external', external, (self._bodies, 6))
        try:
            if not space.apply_wrenches(wrenches):
                require_finite('external', wrenches)
            return kernel(*arguments)
        finally:
            space.clear_wrenches()

    def _jacobian(self, q: ArrayLike, body: str, spatial: bool, out: Array | None) -> Array:
        b = self.model.body_index(body)
        q, matrix = self._position(q), output(out, (6, self.model.nv))
        space = self.workspace
        if not jacobian(space.topology, space.links, space.body_row, space.body_placement,
                        b, spatial, q, matrix):
            refuse(self.model, '', q)
        return matrix

    def _totals(self, q: ArrayLike, v: ArrayLike) -> Array:
        q, v, result = self._position(q), self._rate('v', v), np.empty(ENTRIES)
        if not totals(self.workspace.topology, self.workspace.links, q, v, result):
            refuse(self.model, '', q, v=v)
        return result

    @cached_property
    def _higher(self) -> HigherOrder:
        return HigherOrder(self.model, self.workspace)

    @cached_property
    def _blocks(self) -> Array:
        return np.empty((len(self.workspace.links), BLOCKS))

    @cached_property
    def _many(self) -> Batch:
        return Batch(self.model, self.dissipation)
