# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Inverse, forward and hybrid dynamics of a model, and further quantities for controllers."""

from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import SingularError
from liedyn_ros.dynamics.algorithms.forward import Forward
from liedyn_ros.dynamics.algorithms.hybrid import Hybrid
from liedyn_ros.dynamics.algorithms.inverse import Inverse
from liedyn_ros.dynamics.algorithms.kernels.centroidal import (
    centroidal, ENTRIES, KINETIC, MASS, MOMENT, MOMENTUM, POTENTIAL)
from liedyn_ros.dynamics.algorithms.kernels.coriolis import BLOCKS, coriolis_matrix
from liedyn_ros.dynamics.algorithms.kernels.crba import crba
from liedyn_ros.dynamics.batch.pool import BatchPool, LaneTables
from liedyn_ros.dynamics.tree.arguments import Arguments
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.dynamics.tree.inputs import borrowed, output, refuse
from liedyn_ros.dynamics.tree.kernels.kinematics import kinematics, twist_jacobian
from liedyn_ros.jit.bound_kernel import CheckedKernel
from liedyn_ros.model import Model
from liedyn_ros.model.configuration import with_unit_quaternions


class Kinematics(NamedTuple):
    """
    The motion of all named bodies, in the order of model.bodies.

    poses (B, 4, 4) in the ground. twists and accelerations (B, 6), angular first, of the frame of
    each body in its own axes. An acceleration is the derivative of the six numbers of the twist.
    """

    poses: Array
    twists: Array
    accelerations: Array


class Dynamics:
    """
    The dynamics M(q) a + b(q, v) = tau of a model.

    inverse, forward and hybrid are algorithms: each is called for one state, and has
    time_derivatives, batch and batch_time_derivatives besides (dynamics.algorithm).

    Arrays are flat: q (nq,), v, a and tau (nv,), laid out as the model says; SI units. external
    are wrenches (B, 6) of the environment, moment (N m) before force (N), in the order of
    model.bodies. Each is in the frame of its body, about its origin, without gravity. Results are
    new arrays, or out if given, which must not share memory with an input. data takes intermediate
    results; by default it is that of the object.

    With dissipation, damping v + friction sign(v) of the model acts against the motion of the
    joints. At rest that is zero: there is no stiction.

    Threads may share an object: no call leaves anything behind but the results in data.

    A quaternion whose norm is off 1 by 1e-6 to 1e-4 is scaled, with a QuaternionWarning. All
    methods raise ShapeError, NotFiniteError, NotInGroupError for one that is further off, or
    LimitError for numbers so large that a result is not finite.
    """

    inverse: Inverse
    forward: Forward
    hybrid: Hybrid

    def __init__(self, model: Model, *, dissipation: bool = True) -> None:
        """Lay out the tables of a model."""
        self.model = model
        self.dissipation = dissipation
        self.constants = Constants(model, dissipation)
        self.data = Data(self.constants)
        tables = self.constants, self.data, BatchPool(partial(LaneTables, self.constants))
        self.inverse, self.hybrid = Inverse(*tables), Hybrid(*tables)
        self.forward = Forward(*tables, self.hybrid)
        self._crba = CheckedKernel(Arguments(model, 'q out', done=True), crba,
                                   self.constants.table, self.data.table)
        self._q_shape, self._v_shape = (model.nq,), (model.nv,)
        self._zero = np.zeros(model.nv)

    def __reduce__(self) -> Any:
        """Copy, or pickle, with the results in data."""
        return _restored, (type(self), self.model, self.dissipation, self.data)

    def mass_matrix(self, q: ArrayLike, out: Array | None = None) -> Array:
        """Return M (nv, nv)."""
        matrix = output(out, 2 * self._v_shape)
        self._crba.call(q, matrix)
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
        v = self._rate('v', v)
        return self.constants.damping * v + self.constants.friction * np.sign(v)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """
        Return C (nv, nv) with C v = bias - gravity_vector without dissipation and wrenches.

        It is the admissible one of Ali et al., Lemma 1: Mdot - 2 C is skew-symmetric.
        """
        q, v, matrix = self._position(q), self._rate('v', v), output(out, 2 * self._v_shape)
        if not coriolis_matrix(*self._tables, self._blocks, q, v, matrix):
            refuse(self.model, '', q, v=v)
        return matrix

    def kinematics(self, q: ArrayLike, v: ArrayLike | None = None,
                   a: ArrayLike | None = None) -> Kinematics:
        """Return the motion of all named bodies; v and a are zero where they are not given."""
        q = self._position(q)
        v = self._zero if v is None else self._rate('v', v)
        a = self._zero if a is None else self._rate('a', a)
        count = len(self.model.bodies)
        motion = Kinematics(
            np.empty((count, 4, 4)), np.empty((count, 6)), np.empty((count, 6)))
        if not kinematics(*self._tables, q, v, a, *motion):
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
        result = self._centroidal(q, self._zero)
        mass = result[MASS]
        if not mass > 0.0:
            raise SingularError(f'mass: expected moving bodies with mass, got {mass} kg')
        return result[MOMENT:MOMENT + 3] / mass

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> float:
        """Return the kinetic energy, J."""
        return float(self._centroidal(q, v)[KINETIC])

    def potential_energy(self, q: ArrayLike) -> float:
        """Return the energy of the moving bodies in the field of gravity, J, 0 at the origin."""
        return float(self._centroidal(q, self._zero)[POTENTIAL])

    def momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return (6,) in the ground: angular momentum about its origin, then linear."""
        return self._centroidal(q, v)[MOMENTUM:].copy()

    def _position(self, q: ArrayLike) -> Array:
        return with_unit_quaternions(self.model.link_table, borrowed('q', q, self._q_shape))

    def _rate(self, name: str, value: ArrayLike) -> Array:
        return borrowed(name, value, self._v_shape)

    def _jacobian(self, q: ArrayLike, body: str, spatial: bool, out: Array | None) -> Array:
        b = self.model.body_index(body)
        q, matrix = self._position(q), output(out, (6, self.model.nv))
        if not twist_jacobian(*self._tables, b, spatial, q, matrix):
            refuse(self.model, '', q)
        return matrix

    def _centroidal(self, q: ArrayLike, v: ArrayLike) -> Array:
        q, v, result = self._position(q), self._rate('v', v), np.empty(ENTRIES)
        if not centroidal(*self._tables, q, v, result):
            refuse(self.model, '', q, v=v)
        return result

    @property
    def _tables(self) -> tuple[Array, Array]:
        return self.constants.table, self.data.table

    @cached_property
    def _blocks(self) -> Array:
        return np.empty((self.constants.links, BLOCKS))


def _restored(of: type[Dynamics], model: Model, dissipation: bool, data: Data) -> Dynamics:
    dynamics = of(model, dissipation=dissipation)
    dynamics.data.table[:] = data.table
    return dynamics
