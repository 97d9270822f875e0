# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Configurations of a model: checked, made, moved, compared, and the derivatives of that (2.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
import math
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, output, require_own_memory
from liedyn_ros.common.errors import LiedynError, LimitError, NotInGroupError
from liedyn_ros.jit.bound_kernel import CheckedKernel
from liedyn_ros.lie import se3, so3
from liedyn_ros.lie.kernels.so3 import TOLERANCE
from liedyn_ros.model.expansion import LinkTable
from liedyn_ros.model.kernels import configuration as kernels
from liedyn_ros.model.kernels.kinds import NQ_OF_KIND, TURNS_OF_KIND
from liedyn_ros.model.parts.geometry import IDENTITY
from liedyn_ros.model.parts.joints import Joint, Limits


def carriers(joints: Iterable[Joint]) -> dict[str | None, tuple[str | None, Array]]:
    """
    Return for each body the one that carries it on fixed joints, and its pose there.

    A carrier moves, and is its own; None is the ground. joints come in the order of their bodies.
    """
    at: dict[str | None, tuple[str | None, Array]] = {None: (None, IDENTITY)}
    for joint in joints:
        carrier, pose = at[joint.parent]
        at[joint.child] = (carrier, pose @ joint.placement) if joint.type_name == 'fixed' else (
            joint.child, IDENTITY)
    return at


def children_of(joints: Iterable[Joint]) -> dict[str | None, list[Joint]]:
    """Return the joints that stand on each body that has some, and on None, the ground."""
    children: dict[str | None, list[Joint]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    return children


def body_poses(joints: Iterable[Joint], q: Array | None = None) -> dict[str | None, Array]:
    """Return the poses (4, 4) of the bodies in the ground, at q or with all joints at zero."""
    poses: dict[str | None, Array] = {None: IDENTITY}
    for joint in joints:
        at = se3.compose(poses[joint.parent], joint.placement)
        poses[joint.child] = at if q is None else se3.compose(at, joint.motion(q[joint.q_slice]))
    return poses


def check(name: str, table: LinkTable, q: ArrayLike) -> Array:
    """
    Return a copy of a configuration (nq,) whose quaternions are unit within 1e-6.

    Those within 1e-4 are scaled, with a QuaternionWarning. Raises ShapeError, NotFiniteError or
    NotInGroupError.
    """
    q = np.array(as_array(name, q, (table.nq,)))  # a copy: kernels are compiled for writable
    for at in table.quaternions:
        norm = math.hypot(*q[at:at + 4].tolist())  # which no square overflows
        if abs(norm - 1.0) > so3.PRINTED_NORM_TOLERANCE:
            raise NotInGroupError(f'{name}[{at}:{at + 4}]: expected a quaternion x, y, z, w of '
                                  f'norm 1 within {so3.PRINTED_NORM_TOLERANCE}, got {norm:.9g}',
                                  names=(name,), expected=1.0, got=norm, indices=(at,))
    return with_unit_quaternions(table, q)


def with_unit_quaternions(table: LinkTable, q: Array) -> Array:
    """
    Return configurations (..., nq) with quaternions scaled whose norm is 1 within 1e-4 only.

    It is the same array where all are unit within 1e-6. Kernels refuse the remaining ones.
    """
    if q.ndim == 1 and all(
            abs(math.hypot(*q[at:at + 4].tolist()) - 1.0) <= TOLERANCE
            for at in table.quaternions):
        return q
    result = q
    for at in table.quaternions:
        part = q[..., at:at + 4]
        with np.errstate(over='ignore', invalid='ignore'):
            difference = np.abs(np.sqrt((part * part).sum(axis=-1)) - 1.0)
        printed = (difference > TOLERANCE) & (difference <= so3.PRINTED_NORM_TOLERANCE)
        if printed.any():
            result = q.copy() if result is q else result
            result[printed, at:at + 4] = so3.unit_quaternion('q', part[printed])
    return result


def neutral(table: LinkTable) -> Array:
    """Return the configuration of zeros and unit quaternions."""
    q = np.zeros(table.nq)
    q[[at + 3 for at in table.quaternions]] = 1.0
    return q


def random(table: LinkTable, limits: Limits, rng: np.random.Generator) -> Array:
    """
    Return a configuration within the limits.

    Rotations of spherical and free joints are uniform, positions of free joints within 1 m along
    each axis. A coordinate without a bound reaches pi rad or 1 m from zero, or from its other
    bound where that is farther. Raises LiedynError for another object than a generator.
    """
    if not isinstance(rng, np.random.Generator):
        raise LiedynError(f'rng: expected a numpy.random.Generator, got {rng!r}')
    q = neutral(table)
    for kind, at, step in zip(table.kind, table.qi, table.vi):
        start = at + NQ_OF_KIND[kind] - 4
        if start >= at:
            q[start:start + 4] = _unit(rng.normal(size=4))  # uniform on the sphere
            q[at:start] = rng.uniform(-1.0, 1.0, start - at)
        else:
            reach = np.pi if TURNS_OF_KIND[kind] else 1.0
            low, high = limits.lower[step], limits.upper[step]
            if np.isinf(low):
                low = min(-reach, high - reach)
            if np.isinf(high):
                high = max(reach, low + reach)
            q[at] = rng.uniform(low, high)
    return q


def _unit(x: Array) -> Array:
    return x / np.linalg.norm(x)


class Retraction:
    """
    q (+) dv and its inverse on one model: compiled kernels that check where they fail.

    Calls raise ShapeError, NotFiniteError, NotInGroupError for a quaternion whose norm is off 1 by
    over 1e-4, or LimitError for a result that is not finite.
    """

    def __init__(self, table: LinkTable) -> None:
        """Bind the kernels to the links of a model."""
        links = np.array((table.kind, table.qi, table.vi), dtype=np.int64)
        self.integrate = CheckedKernel(
            _Check(table, ('q', 'dv'), table.nq), kernels.checked_integrate, links,
            shape=(table.nq,))
        self.difference = CheckedKernel(
            _Check(table, ('q0', 'q1'), table.nv), kernels.checked_difference, links,
            shape=(table.nv,))
        self._table, self._links = table, links

    def integrate_states(self, q: ArrayLike, dv: ArrayLike) -> Array:
        """Return q (+) dv (K, nq) of K states, a state a row."""
        q = np.array(as_array('q', q, (-1, self._table.nq)))
        dv = np.array(as_array('dv', dv, (len(q), self._table.nv)))
        q, out = with_unit_quaternions(self._table, q), np.empty_like(q)
        done = kernels.integrate_of_states(self._links, q, dv, out)
        if done < len(q):
            check(f'q[{done}]', self._table, q[done])
            raise _too_large(f'dv[{done}]', 'a displacement', dv[done])
        return out

    def __reduce__(self) -> tuple[type[Retraction], tuple[LinkTable]]:
        """Copy, or pickle, by binding the kernels again."""
        return Retraction, (self._table,)


class _Check:
    """The check of a kernel on two configurations, or on one and a displacement."""

    done = True

    def __init__(self, table: LinkTable, names: tuple[str, str], size: int) -> None:
        """Take the links of a model, the names of the inputs, and the size of the result."""
        self._table, self._names, self._size = table, names, size

    def prepare(self, *given: Any) -> tuple[Any, ...]:
        """Return the arguments as the kernel takes them, or raise the error of a wrong one."""
        inputs = tuple(
            np.array(as_array(name, value, (self._table.nv,))) if name == 'dv'
            else check(name, self._table, value) for name, value in zip(self._names, given))
        out = output(given[2], (self._size,))
        require_own_memory(out, **{name: value for name, value in zip(self._names, given)
                                   if isinstance(value, np.ndarray)})
        return *inputs, out

    def refuse(self, code: int, *arguments: Any) -> NoReturn:
        """Raise the error of numbers whose result is not finite."""
        name = self._names[1]
        raise _too_large(name, 'a displacement' if name == 'dv' else 'a configuration',
                         arguments[1])


def _too_large(name: str, what: str, array: Array) -> LimitError:
    return LimitError(f'{name}: expected {what} whose result is finite, got one with an entry '
                      f'of {np.abs(array).max():.3g}')


class RetractionDerivatives(NamedTuple):
    """
    Derivatives (nv, nv) of q (+) dv, in tangents at the result.

    by_q is along the tangents at q, by_dv by the numbers of dv.

    >>> model.integrate_derivatives(q, v).by_dv.shape
    (6, 6)
    """

    by_q: Array
    by_dv: Array


class DifferenceDerivatives(NamedTuple):
    """
    Derivatives by_q0 and by_q1 (nv, nv) of the dv with q0 (+) dv = q1, along the tangents there.

    >>> model.difference_derivatives(q, q).by_q0.shape
    (6, 6)
    """

    by_q0: Array
    by_q1: Array


def retraction_derivatives(table: LinkTable, dv: Array) -> RetractionDerivatives:
    """Return the derivatives of q (+) dv, which do not depend on q."""
    return RetractionDerivatives(
        _blocks(table, dv, lambda group, x: group.adjoint(group.exp(-x))),  # (0.5)
        _blocks(table, dv, lambda group, x: group.right_jacobian(x)))  # (1.14)


def difference_derivatives(table: LinkTable, dv: Array) -> DifferenceDerivatives:
    """Return the derivatives of a difference dv, which depend on dv alone."""
    return DifferenceDerivatives(
        -_blocks(table, dv, lambda group, x: group.left_jacobian_inverse(x)),  # (1.14)
        _blocks(table, dv, lambda group, x: group.right_jacobian_inverse(x)))


def _blocks(table: LinkTable, dv: Array, of: Callable[..., Array]) -> Array:
    """Return the matrix of the block of each group; that of all other coordinates is 1."""
    result = np.eye(table.nv)
    for group, place in table.groups:
        result[place, place] = of(group, dv[place])
    return result
