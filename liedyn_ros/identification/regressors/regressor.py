# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The dynamics as a matrix times the inertial parameters, tau = Y(q, v, a) pi."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_numbers
from liedyn_ros.common.errors import LiedynError, LimitError, ShapeError
from liedyn_ros.dynamics import Dynamics, Kinematics
from liedyn_ros.identification.consistency import parameters_of, pseudo_inertia
from liedyn_ros.identification.regressors.kernels.regressor import regressors_of_states
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import Model
from liedyn_ros.model.configuration import with_unit_quaternions

BODY_PARAMETERS = ('mass', 'mass_x', 'mass_y', 'mass_z', 'xx', 'xy', 'xz', 'yy', 'yz', 'zz')


class Regressor:
    """
    The regressors of a model: matrices that are linear in its parameters pi (P,).

    parameters are the model's, names has the name of each. Ten for each of model.bodies, in its
    frame about its origin: mass (kg), first moments (kg m) and moments of inertia (kg m^2), e.g.
    'forearm/mass_x'. With dissipation follow damping and Coulomb friction of each velocity
    coordinate, e.g. 'elbow/damping'. With rotor_inertia follows the inertia of the motor of each
    coordinate, reduced to the joint, e.g. 'elbow/rotor_inertia': the armatures of the model.

    External wrenches are not a part: with them tau = Y pi + by_external w, which
    inverse.partial_derivatives has. Neither are springs, Dynamics.spring_forces, nor armatures
    without rotor_inertia.
    With merged, bodies fixed to each other count as one, in the frame and by the name of the first
    with mass. Those fixed to the ground have no part. bodies are the places of the bodies that
    have parameters.

    All methods raise ShapeError, NotFiniteError, NotInGroupError or LimitError as those of
    Dynamics do. Each object works in its own tables: use one per thread.

    >>> regressor = ld.Regressor(model)
    >>> np.allclose(regressor.torque(q, v, a) @ regressor.parameters, robot.inverse(q, v, a))
    True
    """

    def __init__(self, model: Model, *, dissipation: bool = False,
                 rotor_inertia: bool = False, merged: bool = False) -> None:
        """
        Collect names and values of the parameters.

        Args:
            model: a Model.
            dissipation: whether damping and friction are parameters.
            rotor_inertia: whether the inertias of motors are.
            merged: whether bodies fixed to each other count as one.
        """
        self.model = model
        self._dynamics = Dynamics(model, dissipation=False)
        self._full = Dynamics(model, dissipation=dissipation)
        table, coordinates = model.link_table, model.coordinate_names
        groups = fixed_groups(model) if merged else [[b] for b in range(len(model.bodies))]
        self.bodies = np.array([group[0] for group in groups], dtype=np.int64)
        values = [_sum_of(model, group) for group in groups]
        names = [f'{model.bodies[b]}/{each}' for b in self.bodies for each in BODY_PARAMETERS]
        if dissipation:
            values += [table.damping, table.friction]
            names += [f'{name}/{each}' for each in ('damping', 'friction') for name in coordinates]
        if rotor_inertia:
            values.append(table.armature)
            names += [f'{name}/rotor_inertia' for name in coordinates]
        self._dissipation, self.rotor_inertia = dissipation, rotor_inertia
        self.names, self.parameters = tuple(names), np.concatenate(values)
        self.parameters.setflags(write=False)

    def __repr__(self) -> str:
        """Return the model, and how many parameters there are."""
        return f'<Regressor of {self.model!r}: {len(self.names)} parameters>'

    def torque(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """
        Return the regressor of the joint forces (6.23).

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            a: acceleration (nv,); rad/s^2 and m/s^2.

        Returns:
            Y (nv, P), with tau = Y pi.

        Raises:
            LiedynError: for a state of other shapes, or one that is not finite, see Dynamics.

        >>> regressor = ld.Regressor(model)
        >>> tau = regressor.torque(q, v, a) @ regressor.parameters
        >>> np.allclose(tau, robot.inverse(q, v, a))
        True
        """
        q, nv = as_array('q', q, (self.model.nq,)), self.model.nv
        states = q[None], as_array('v', v, (nv,))[None], as_array('a', a, (nv,))[None]
        good, rows = self._torques(*states)
        if not good:
            self._refuse(q, *(each[0] for each in states[1:]))
        return rows[0]

    def torque_batch(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """
        Return the regressors of K states.

        Args:
            q: (K, nq).
            v: (K, nv).
            a: (K, nv).

        Returns:
            Y (K, nv, P).

        Raises:
            LiedynError: naming the first state at fault.

        >>> ld.Regressor(model).torque_batch([q], [v], [a]).shape[:2]
        (1, 6)
        """
        nv = self.model.nv
        q = as_numbers('q', q)
        if q.ndim != 2 or q.shape[1] != self.model.nq:
            raise ShapeError(f'q: expected shape (K, {self.model.nq}), a state a row, '
                             f'got {q.shape}')
        v, a = as_array('v', v, (len(q), nv)), as_array('a', a, (len(q), nv))
        good, rows = self._torques(q, v, a)
        if good < len(q):
            try:
                self._refuse(q[good], v[good], a[good])
            except LiedynError as error:
                raise type(error)(f'state {good}: {error}') from error
        return rows

    def known_forces(self, q: Array, a: Array) -> Array:
        """
        Return the forces that no parameter changes: springs, stops and armatures.

        Args:
            q: configurations (K, nq); rad and m.
            a: accelerations (K, nv); rad/s^2 and m/s^2.

        Returns:
            (K, nv); N m and N.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> ld.Regressor(model).known_forces(np.array([q]), np.array([a])).shape
        (1, 6)
        """
        springs = self._dynamics.spring_forces_batch(q)
        return springs if self.rotor_inertia else springs + self.model.link_table.armature * a

    def _refuse(self, q: Array, v: Array, a: Array) -> NoReturn:
        """Raise the error of a motion that the kernel refuses."""
        self._dynamics.kinematics(q, v, a)
        raise LimitError('motion: expected numbers whose regressor is finite, got larger ones')

    def _torques(self, q: Array, v: Array, a: Array) -> tuple[int, Array]:
        """Return how many states are good before the first that is not, and Y (K, nv, P)."""
        nv, bodies = self.model.nv, len(self.model.bodies)
        rows, at = np.zeros((len(q), nv, len(self.names))), 10 * len(self.bodies)
        good = regressors_of_states(
            self._dynamics.constants.table, self._dynamics.data.table,
            with_unit_quaternions(self.model.link_table, q), v, a, self.bodies,
            np.empty((bodies, 4, 4)), np.empty((bodies, 6)), np.empty((bodies, 6)),
            np.empty((6, nv)), np.empty((10, 6)), rows)
        diagonal = np.arange(nv)
        if self._dissipation:
            rows[:, diagonal, at + diagonal] = v
            rows[:, diagonal, at + nv + diagonal] = np.sign(v)
            at += 2 * nv
        if self.rotor_inertia:
            rows[:, diagonal, at + diagonal] = a
        return good, rows

    def random_rows(self, rng: np.random.Generator) -> Array:
        """
        Return the regressor at a random motion.

        Args:
            rng: of numpy.

        Returns:
            (nv, P).

        >>> ld.Regressor(model).random_rows(np.random.default_rng(1)).shape[0]
        6
        """
        return self.torque(self.model.random(rng), *rng.normal(size=(2, self.model.nv)))

    def acceleration(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                     external: ArrayLike | None = None) -> Array:
        """
        Return the derivative of forward dynamics by the parameters, -M^-1 Y.

        Without dissipation the joints have neither damping nor friction.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            tau: joint forces (nv,); N m and N.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.

        Returns:
            da/dpi (nv, P).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> ld.Regressor(model).acceleration(q, v, tau).shape[0]
        6
        """
        at = self._full.forward.partial_derivatives(q, v, tau, external)
        return -at.by_tau @ self.torque(q, v, at.a)

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> Array:
        """
        Return the row of the kinetic energy (13.30).

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.

        Returns:
            (P,), which times the parameters is J.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> regressor = ld.Regressor(model)
        >>> row = regressor.kinetic_energy(q, v)
        >>> np.allclose(row @ regressor.parameters, robot.kinetic_energy(q, v))
        True
        """
        twists = self._moving(q, v).twists[self.bodies]
        row = 0.5 * np.einsum('ba,bap->bp', twists, applied(twists))
        rotors = 0.5 * as_array('v', v, (self.model.nv,))**2
        return self._row(row, rotors if self.rotor_inertia else None)

    def potential_energy(self, q: ArrayLike) -> Array:
        """
        Return the row of the potential of gravity, 0 at the origin of the ground (13.30).

        Args:
            q: configuration (nq,); rad and m.

        Returns:
            (P,), which times the parameters is J.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> regressor = ld.Regressor(model)
        >>> row = regressor.potential_energy(q)
        >>> np.allclose(row @ regressor.parameters, robot.potential_energy(q))
        True
        """
        poses = self._moving(q, np.zeros(self.model.nv)).poses[self.bodies]
        gravity = self.model.gravity
        row = np.zeros((len(poses), 10))
        row[:, 0] = -poses[:, :3, 3] @ gravity
        row[:, 1:4] = -gravity @ poses[:, :3, :3]
        row[self.model.link_table.body_link[self.bodies] < 0] = 0.0  # as Dynamics has it
        return self._row(row)

    def momentum(self, q: ArrayLike, v: ArrayLike) -> Array:
        """
        Return the matrix of the momentum about the origin of the ground (13.30).

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.

        Returns:
            (6, P), angular part first; times the parameters N m s and N s.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> regressor = ld.Regressor(model)
        >>> regressor.momentum(q, v).shape == (6, len(regressor.names))
        True
        """
        motion = self._moving(q, v)
        to_body = se3.adjoint(se3.inverse(motion.poses[self.bodies]))
        block = np.swapaxes(to_body, 1, 2) @ applied(motion.twists[self.bodies])
        result = np.zeros((6, len(self.names)))
        result[:, :10 * len(block)] = np.hstack(list(block))
        return result

    def _moving(self, q: ArrayLike, v: ArrayLike) -> Kinematics:
        return self._dynamics.kinematics(q, v)

    def _row(self, bodies: Array, rotors: Array | None = None) -> Array:
        row = np.zeros(len(self.names))
        row[:bodies.size] = bodies.ravel()
        if rotors is not None:
            row[len(row) - len(rotors):] = rotors
        return row


def fixed_groups(model: Model) -> list[list[int]]:
    """Return the places of the bodies of each link, the first one with mass before all others."""
    groups: dict[int, list[int]] = {}
    for b, link in enumerate(model.link_table.body_link.tolist()):
        if link >= 0:
            groups.setdefault(link, []).append(b)
    return [sorted(group, key=lambda b: not _mass(model, b)) for group in groups.values()]


def poses_of_bodies(model: Model) -> Array:
    """Return the poses (B, 4, 4) of bodies in the frames of the links that carry them."""
    placement = model.link_table.body_placement
    poses = np.tile(np.eye(4), (len(placement), 1, 1))
    poses[:, :3, :3] = placement[:, :9].reshape(-1, 3, 3)
    poses[:, :3, 3] = placement[:, 9:]
    return poses


def _mass(model: Model, b: int) -> float:
    inertia = model.body_list[b].inertia
    return 0.0 if inertia is None else inertia.mass


def _sum_of(model: Model, group: list[int]) -> Array:
    """Return the parameters (10,) of bodies of one link, in the frame of the first."""
    parts = [model.body_list[b].inertia for b in group]
    if len(group) == 1:
        return np.zeros(10) if parts[0] is None else parts[0].parameters()
    poses = poses_of_bodies(model)[group]
    poses = se3.inverse(poses[0]) @ poses
    return parameters_of(np.sum([
        pose @ pseudo_inertia(each.parameters()) @ pose.T
        for pose, each in zip(poses, parts) if each is not None] or [np.zeros((4, 4))], axis=0))


def applied(twists: Array) -> Array:
    """Return Lam(x) (..., 6, 10) of twists (..., 6): I(pi) x = Lam(x) pi (6.22)."""
    w, v = twists[..., :3], twists[..., 3:]
    result = np.zeros((*twists.shape[:-1], 6, 10))
    result[..., :3, 1:4], result[..., 3:, 1:4] = -so3.hat(v), so3.hat(w)
    result[..., 3:, 0] = v
    for row, columns in enumerate(((4, 5, 6), (5, 7, 8), (6, 8, 9))):
        result[..., row, columns] = w
    return result
