# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The joints, coordinates and bodies of a model by name, in whatever order a caller lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_trailing, order_of, require_kind, unknown_name
from liedyn_ros.common.errors import NameSetError, ShapeError
from liedyn_ros.dynamics.tree.floating_base import base_joint
from liedyn_ros.dynamics.tree.inputs import mask, require_order
from liedyn_ros.model import Joint, JOINT_TYPES, Model

Found = TypeVar('Found')
Indices = NDArray[np.int64]

CACHE_SIZE = 64  # lists of names; a caller repeats its own


class JointOrder(NamedTuple):
    """
    Indices in q and v of the numbers of listed joints, one joint after the other.

    >>> ld.Names(model).order(model.coordinate_names[::-1]).v
    array([5, 4, 3, 2, 1, 0])
    """

    q: Indices
    v: Indices


class Names:
    """
    The joints, coordinates and bodies of a model by name.

    base is the floating base, or None: the free joint on the ground that has the first
    coordinates. base_body is the body that it moves, or ''. others are all other joints that move,
    by name in the model's order.

    >>> ld.Names(model).mask('fixed', ['elbow']).nonzero()[0]
    array([2])
    """

    def __init__(self, model: Model) -> None:
        """
        Tell the base from the other joints.

        Args:
            model: a Model.

        Raises:
            LiedynError: for anything but a Model.
        """
        require_kind('model', model, Model, 'as load_model returns')
        self.model, self.base = model, base_joint(model)
        self.base_body = '' if self.base is None else self.base.child
        self.others: dict[str, Joint] = {
            joint.name: joint for joint in model.joint_list
            if JOINT_TYPES[joint.type_name].nv and joint is not self.base}
        self._coordinates = {name: slice(i, i + 1) for i, name in enumerate(
            model.coordinate_names)} | {n: joint.v_slice for n, joint in self.others.items()}
        if self.base is not None:  # its body stands for it, whatever else has that name
            self._coordinates |= dict.fromkeys(
                (self.base.name, self.base_body), self.base.v_slice)
        self._orders: dict[tuple[str, ...], JointOrder] = {}
        self._masks: dict[tuple[str, ...], NDArray[np.bool_]] = {}

    def __repr__(self) -> str:
        """Return the model."""
        return f'<Names of {self.model!r}>'

    def order(self, names: Sequence[str]) -> JointOrder:
        """
        Return the order of joints by name.

        Args:
            names: all joints of others, in any order.

        Returns:
            a JointOrder.

        Raises:
            NameSetError: naming every unknown, missing or repeated name.

        >>> names = ld.Names(model)
        >>> order = names.order(model.coordinate_names[::-1])
        """
        return _remembered(self._orders, self._order, _listed('joint_names', names))

    def prescribed(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """
        Return a mask of named velocity coordinates, as Dynamics.hybrid takes it.

        A joint's name stands for all of its coordinates, and the base body's name for those of the
        base. model.coordinate_names name single ones.

        Args:
            names: of joints, of the base body, or of coordinates.

        Returns:
            (nv,) of bool, read-only.

        Raises:
            NameSetError: for an unknown name, and a coordinate that is named twice.

        >>> int(ld.Names(model).prescribed(['elbow']).sum())
        1
        """
        return _remembered(self._masks, self._prescribed, _listed('prescribed', names))

    def mask(self, what: str, given: ArrayLike) -> NDArray[np.bool_]:
        """
        Return the mask of coordinates of velocity that names or a mask choose.

        Args:
            what: the word that errors begin with.
            given: names of joints or coordinates, or a mask (nv,).

        Returns:
            mask (nv,).

        Raises:
            NameSetError: for unknown names.
            LiedynError: for a mask of another shape.

        >>> ld.Names(model).mask('by', ['elbow']).tolist()
        [False, False, True, False, False, False]
        """
        if isinstance(given, str) or (isinstance(given, (list, tuple)) and all(
                isinstance(each, str) for each in given)):
            names = _listed(what, cast(Sequence[str], given))
            try:
                return self.prescribed(names).copy()  # kernels take no read-only one
            except NameSetError as error:
                raise NameSetError(
                    str(error).replace('prescribed', what, 1), names=error.names,
                    expected=error.expected, got=error.got) from None
        return mask(what, given, self.model.nv)

    def wrenches(self, by_body: Mapping[str, ArrayLike], order: int | None = None) -> Array:
        """
        Return the wrenches on all bodies, for Dynamics.

        Args:
            by_body: wrench (6,) by name: moment (N m), then force (N), in the frame of its body,
                about its origin; with k - 1 derivatives (k, 6).
            order: of derivatives; by default none.

        Returns:
            (B, 6), or (order + 1, B, 6); zero where nothing is given.

        Raises:
            ModelError: for an unknown body.
            LiedynError: for other shapes, numbers or orders.

        >>> float(ld.Names(model).wrenches({'tool': np.ones(6)}).sum())
        6.0
        """
        rows = 1 if order is None else require_order(order) + 1
        result = np.zeros((rows, len(self.model.bodies), 6))
        for body, given in by_body.items():
            name = f'external wrench on {body}'
            wrench = np.atleast_2d(as_trailing(name, given, (6,)))
            if wrench.ndim > 2 or len(wrench) > rows:
                raise ShapeError(f'{name}: expected a row for each order of differentiation, '
                                 f'shape {(rows, 6)} at most, got {wrench.shape}')
            result[:len(wrench), self.model.body_index(body)] = wrench
        return result[0] if order is None else result

    def _order(self, names: tuple[str, ...]) -> JointOrder:
        order_of('joint_names', tuple(self.others), names)
        joints = [self.others[name] for name in names]
        return JointOrder(_indices([joint.q_slice for joint in joints]),
                          _indices([joint.v_slice for joint in joints]))

    def _prescribed(self, names: tuple[str, ...]) -> NDArray[np.bool_]:
        mask = np.zeros(self.model.nv, dtype=np.bool_)
        for name in names:
            place = self._coordinates.get(name)
            if place is None:
                raise unknown_name(NameSetError, 'prescribed', self._coordinates, name)
            if mask[place].any():
                raise NameSetError(
                    f'prescribed: expected each coordinate once, got {name!r} again')
            mask[place] = True
        mask.setflags(write=False)
        return mask


def _remembered(found: dict[tuple[str, ...], Found], find: Callable[[tuple[str, ...]], Found],
                names: tuple[str, ...]) -> Found:
    """Return the result of a search by names, once for equal lists; errors are not kept."""
    result = found.get(names)
    if result is None:
        result = find(names)
        if len(found) >= CACHE_SIZE:
            found.clear()
        found[names] = result
    return result


def _listed(what: str, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise NameSetError(f'{what}: expected a list of names, got the text {names!r}')
    return tuple(names)


def _indices(places: Sequence[slice]) -> Indices:
    return np.array([i for place in places for i in range(place.start, place.stop)], np.int64)
