# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Inverse, forward and hybrid dynamics of a model, and further quantities for controllers."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, require_kind
from liedyn_ros.common.errors import called_by_user, OpenTreeWarning, warn
from liedyn_ros.common.other_names import DYNAMICS_NAMES, missing
from liedyn_ros.dynamics.algorithms.hybrid import Forward, Hybrid
from liedyn_ros.dynamics.algorithms.inverse import Inverse
from liedyn_ros.dynamics.algorithms.kernels import centroidal, rnea
from liedyn_ros.dynamics.algorithms.kernels.coriolis import BLOCK_WIDTH, coriolis_matrix
from liedyn_ros.dynamics.algorithms.kernels.crba import crba
from liedyn_ros.dynamics.batch.pool import BatchPool, LaneTables
from liedyn_ros.dynamics.batch.states import StateBatches
from liedyn_ros.dynamics.centroidal import CentroidalDynamics
from liedyn_ros.dynamics.frames import Frames
from liedyn_ros.dynamics.mass_matrix.kernels.factorization import inverse_mass_matrix
from liedyn_ros.dynamics.partial_derivatives.many_states import ScratchBuffers
from liedyn_ros.dynamics.tree.constants import Arguments, Constants
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.dynamics.tree.kernels.kinematics import kinematics
from liedyn_ros.jit.bound_kernel import CheckedKernel, Direct, direct
from liedyn_ros.model import Model


class Kinematics(NamedTuple):
    """
    The motion of all named bodies, in the order of model.bodies.

    poses (B, 4, 4) in the ground. twists and accelerations (B, 6), angular first, of the frame of
    each body in its own axes. An acceleration is the derivative of the six numbers of the twist.

    >>> robot.kinematics(q, v, a).twists.shape
    (8, 6)
    """

    poses: Array
    twists: Array
    accelerations: Array


class Dynamics(Direct, CentroidalDynamics, StateBatches):
    """
    The dynamics M(q) a + b(q, v) = tau of a model.

    inverse, forward and hybrid are algorithms: each is called for one state, and has
    time_derivatives, batch and time_derivatives_batch besides (dynamics.algorithm). frames has
    poses, twists, accelerations and Jacobians of frames by name.

    Arrays are flat: q (nq,), v, a and tau (nv,), laid out as the model says; SI units. external
    are wrenches (B, 6) of the environment, moment (N m) before force (N), in the order of
    model.bodies. Each is in the frame of its body, about its origin, without gravity. Results are
    new arrays, or out if given, which must not share memory with an input.

    With dissipation, damping v + friction sign(v) of the model acts against the motion of the
    joints. At rest that is zero: there is no stiction. Springs and armatures of the joints are
    always in. tau also holds springs and end stops, see spring_forces, and armature is on the
    diagonal of M.

    Threads may share an object: no call leaves anything behind.

    A quaternion whose norm is off 1 by 1e-6 to 1e-4 is scaled, with a QuaternionWarning. All
    methods raise ShapeError, NotFiniteError, NotInGroupError for one that is further off, or
    LimitError for numbers so large that a result is not finite.

    >>> robot = ld.Dynamics(ld.load_model(config_file('arm.urdf')))
    >>> tau = robot.inverse(q, v, a)
    >>> np.allclose(robot.forward(q, v, tau), a)
    True
    """

    def __init__(self, model: Model, *, dissipation: bool = True) -> None:
        """
        Lay out the tables of a model; an OpenTreeWarning names closures and couplings of it.

        Args:
            model: a Model.
            dissipation: whether damping and friction of the joints act.

        Raises:
            LiedynError: for anything but a Model.
        """
        self.dissipation = dissipation
        self.constants = Constants(
            require_kind('model', model, Model, 'as load_model returns'), dissipation)
        if called_by_user() and (loops := [
                *(each.name for each in model.closures),
                *(each.joint for each in model.couplings)]):
            warn(f'Dynamics leaves out the closures and couplings {loops} of the model: '
                 'liedyn_ros.load and ConstrainedDynamics count them', OpenTreeWarning)
        self.data = Data(self.constants)
        self._tables = self.constants, self.data, BatchPool(partial(LaneTables, self.constants))
        self._vector, self._matrix = (model.nv,), 2 * (model.nv,)
        self._zero, self._mass = np.zeros(model.nv), float(model.link_table.inertia[:, 0].sum())
        self._bind()

    def _bind(self) -> None:
        """Bind the kernels to the tables; each compiles at its first call."""
        blocks = np.empty((self.constants.links, BLOCK_WIDTH))
        self._crba = self._bound('q out', crba, self._matrix)
        self._gravity = self._bound('q out', centroidal.gravity_forces, self._vector)
        self._springs = CheckedKernel(
            Arguments(self.model, 'q out', done=True, shapes=(self._vector,)),
            rnea.spring_forces, self.constants.table, shape=self._vector)
        self._coriolis = self._bound('q v out', coriolis_matrix, self._matrix, blocks)
        self._kinematics = self._bound('q v a', kinematics)
        self._potential = self._bound('q', centroidal.potential_energy)
        self._kinetic = self._bound('q v', centroidal.kinetic_energy)
        self._bind_centroidal(blocks)

    def _direct_calls(self) -> dict[str, Any]:
        calls = {
            'mass_matrix': self._crba.direct('q out', None),
            'gravity_vector': self._gravity.direct('q out', None),
            'spring_forces': self._springs.direct('q out', None),
            'coriolis_matrix': self._coriolis.direct('q v out', None),
            'inverse_mass_matrix': self._inverse_mass.direct('q out', None)}
        return calls | self._centroidal_calls()

    def _bound(self, names: str, compiled: Any, shape: tuple[int, ...] | None = None,
               *tables: Array) -> CheckedKernel:
        shapes = () if shape is None else (shape,)
        return CheckedKernel(
            Arguments(self.model, names, done=True, shapes=shapes), compiled,
            self.constants.table, self.data.table, *tables, shape=shape or ())

    if not TYPE_CHECKING:
        def __getattr__(self, name):
            """Raise AttributeError, which leads from a name of another library to ours."""
            raise missing(self, f'{type(self).__name__!r} object', name, DYNAMICS_NAMES)

    def __repr__(self) -> str:
        """Return the model, and whether damping and friction are in."""
        return f'<Dynamics of {self.model!r}, {"with" if self.dissipation else "no"} dissipation>'

    def __reduce__(self) -> Any:
        """Copy, or pickle, by laying the tables out again."""
        return _restored, (type(self), self.model, self.dissipation)

    @cached_property
    def inverse(self) -> Inverse:
        """Return inverse dynamics, tau of q, v and a (RNEA): call it."""
        return Inverse(*self._tables)

    @cached_property
    def forward(self) -> Forward:
        """Return forward dynamics, a of q, v and tau (ABA): call it."""
        return Forward(*self._tables, self.hybrid)

    @cached_property
    def hybrid(self) -> Hybrid:
        """Return hybrid dynamics, a or tau of each coordinate being given: call it."""
        return Hybrid(*self._tables)

    @cached_property
    def frames(self) -> Frames:
        """Return the poses, twists, accelerations and Jacobians of frames: call its methods."""
        return Frames(self.constants)

    @direct
    def mass_matrix(self, q: ArrayLike, out: Array | None = None) -> Array:
        """
        Return the mass matrix.

        Args:
            q: configuration (nq,); rad and m.
            out: array that takes the result; by default a new one.

        Returns:
            M (nv, nv); kg m^2, kg m and kg.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite, see Dynamics.

        >>> robot.mass_matrix(q).shape
        (6, 6)
        """
        return self._crba.answer(q, out)

    @direct
    def inverse_mass_matrix(self, q: ArrayLike, out: Array | None = None) -> Array:
        """
        Return the inverse of the mass matrix.

        Args:
            q: configuration (nq,); rad and m.
            out: array that takes the result; by default a new one.

        Returns:
            M^-1 (nv, nv).

        Raises:
            SingularError: naming a coordinate that moves no inertia.
            LiedynError: for a wrong state.

        >>> np.allclose(robot.inverse_mass_matrix(q) @ robot.mass_matrix(q), np.eye(6))
        True
        """
        return self._inverse_mass.answer(q, out)

    def bias(self, q: ArrayLike, v: ArrayLike, external: ArrayLike | None = None,
             out: Array | None = None) -> Array:
        """
        Return the joint forces of a motion without acceleration (3.6).

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.
            out: array that takes the result; by default a new one.

        Returns:
            b (nv,); N m and N.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite, see Dynamics.

        >>> np.allclose(robot.bias(q, v), robot.inverse(q, v, np.zeros(6)))
        True
        """
        return self.inverse(q, v, self._zero, external, out)

    @direct
    def gravity_vector(self, q: ArrayLike, out: Array | None = None) -> Array:
        """
        Return the joint forces that hold the weight of the machine; no springs.

        Args:
            q: configuration (nq,); rad and m.
            out: array that takes the result; by default a new one.

        Returns:
            g (nv,); N m and N.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite, see Dynamics.

        >>> robot.gravity_vector(q).shape
        (6,)
        """
        return self._gravity.answer(q, out)

    def resistance(self, v: ArrayLike) -> Array:
        """
        Return the joint forces that overcome damping and Coulomb friction.

        Args:
            v: velocity (nv,); rad/s and m/s.

        Returns:
            forces (nv,); N m and N.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite, see Dynamics.

        >>> bool(robot.resistance(np.zeros(6)).any())
        False
        """
        v = as_array('v', v, self._vector)
        return self.constants.damping * v + self.constants.friction * np.sign(v)

    @direct
    def spring_forces(self, q: ArrayLike, out: Array | None = None) -> Array:
        """
        Return the joint forces that hold springs and end stops (3.19), (3.21).

        Args:
            q: configuration (nq,); rad and m.
            out: array that takes the result; by default a new one.

        Returns:
            forces (nv,); N m and N.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite, see Dynamics.

        >>> robot.spring_forces(q).shape
        (6,)
        """
        return self._springs.answer(q, out)

    @direct
    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """
        Return the Coriolis matrix, the admissible one (Ali 21, Ali Lemma 1).

        Mdot - 2 C is skew-symmetric. C v is the bias without dissipation and wrenches, less
        gravity_vector and spring_forces.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            out: array that takes the result; by default a new one.

        Returns:
            C (nv, nv).

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite, see Dynamics.

        >>> robot.coriolis_matrix(q, v).shape
        (6, 6)
        """
        return self._coriolis.answer(q, v, out)

    def kinematics(self, q: ArrayLike, v: ArrayLike | None = None,
                   a: ArrayLike | None = None) -> Kinematics:
        """
        Return the motion of all named bodies.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); by default zero.
            a: acceleration (nv,); by default zero.

        Returns:
            poses (B, 4, 4) in the ground, body twists and accelerations (B, 6).

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite, see Dynamics.

        >>> len(robot.kinematics(q).poses) == len(model.bodies)
        True
        """
        count = len(self.model.bodies)
        motion = Kinematics(
            np.empty((count, 4, 4)), np.empty((count, 6)), np.empty((count, 6)))
        self._kinematics.call(
            q, self._zero if v is None else v, self._zero if a is None else a, *motion)
        return motion

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> float:
        """
        Return the kinetic energy.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.

        Returns:
            energy, J.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite, see Dynamics.

        >>> robot.kinetic_energy(q, np.zeros(6))
        0.0
        """
        result = np.empty(1)
        self._kinetic.call(q, v, result)
        return float(result[0])

    def potential_energy(self, q: ArrayLike) -> float:
        """
        Return the energy of the moving bodies in gravity, of springs and of end stops.

        It is 0 at the origin of the ground, where springs rest, and far from stops.

        Args:
            q: configuration (nq,); rad and m.

        Returns:
            energy, J.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite, see Dynamics.

        >>> robot.potential_energy(q) > 0.0
        True
        """
        result = np.empty(1)
        self._potential.call(q, result)
        return float(result[0])

    @cached_property
    def _inverse_mass(self) -> CheckedKernel:
        scratch = ScratchBuffers(self.constants)
        return CheckedKernel(
            Arguments(self.model, 'q out', shapes=(self._matrix,)), inverse_mass_matrix,
            self.constants.table, scratch.data, scratch.before, scratch.factors,
            np.empty_like(scratch.factors), shape=self._matrix)


def _restored(of: type[Dynamics], model: Model, dissipation: bool) -> Dynamics:
    return of(model, dissipation=dissipation)
