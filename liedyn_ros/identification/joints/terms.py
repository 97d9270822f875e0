# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Terms of joints: an unknown each, whose column follows from the motion (16.10)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.model import JOINT_TYPES, Model

OFFSET_TERM, STRIBECK, LOAD, SCALE_TERM = 'offset', 'stribeck', 'load', 'scale'
TILT, SPRING, COUPLED = 'tilt', 'spring', 'coupled'
FRICTION_TERMS = ('damping', 'friction', OFFSET_TERM)
MORE_TERMS = (STRIBECK, LOAD, TILT, SPRING, COUPLED)  # that few joints have


class Term(NamedTuple):
    """
    A term of a kind of the coordinate at, whose position is q[qi], and a Stribeck term's speed.

    Speeds are in rad/s or m/s. The unknown is N m s or N s/m of damping, N m or N of friction,
    offset and Stribeck, N m/rad or N/m of a spring beside the model's own; of load it is friction
    over the force of the joint, of scale a relative error. A tilt, rad, is about level axis `at`.
    A coupled one is the friction of a motor that turns as `at` and side times `other`: where side
    is 0 its damping, as at + other.

    >>> terms_of(model, ('damping',))[2].name(model)
    'elbow/damping'
    """

    kind: str
    at: int
    speed: float = 0.0
    qi: int = 0
    other: int = -1
    side: int = 0

    @property
    def row(self) -> int:
        """Return the coordinate whose row has the column: any, zeros, where at is an axis."""
        return 0 if self.kind == TILT else self.at

    @property
    def factor(self) -> int:
        """Return how the motor of a coupled term turns with its other joint."""
        return self.side or 1

    def name(self, model: Model) -> str:
        """
        Return the name of the unknown.

        Args:
            model: a Model.

        Returns:
            such as 'elbow/friction'.

        >>> terms_of(model, ('friction',))[2].name(model)
        'elbow/friction'
        """
        if self.kind == TILT:
            return f'base/{TILT} {self.at + 1}'
        names = model.coordinate_names
        if self.kind == COUPLED:
            return (f'{names[self.at]} {"-" if self.side < 0 else "+"} {names[self.other]}/'
                    f'{"friction" if self.side else "damping"}')
        return f'{names[self.at]}/{self.kind}'

    def column(self, q: Array, v: Array, slow: float, load: Array | None) -> Array:
        """
        Return the force of a unit of the unknown along a motion.

        Args:
            q: positions (n,) of the coordinate; rad or m.
            v: rates (n,) of it, or of the motor of a coupled term; rad/s or m/s.
            slow: rate at which the direction of friction is in doubt; rad/s or m/s.
            load: force without friction (n,), for terms of load (16.12); N m or N.

        Returns:
            (n,).

        >>> damping = terms_of(model, ('damping',))[0]
        >>> damping.column(np.zeros(2), np.array([1.0, 2.0]), 0.01, None)
        array([1., 2.])
        """
        side = np.tanh(v / slow)
        if self.kind == 'damping' or (self.kind == COUPLED and not self.side):
            return v
        if self.kind == SPRING:
            return q
        if self.kind in ('friction', COUPLED):
            return np.asarray(side)
        if self.kind == STRIBECK:
            return np.asarray(side * np.exp(-(v / self.speed)**2))
        if self.kind == LOAD and load is not None:
            return np.asarray(side * np.abs(load))
        return np.ones(len(v))

    @property
    def positive(self) -> bool:
        """Return whether the unknown cannot be negative."""
        return self.kind not in (OFFSET_TERM, SCALE_TERM, TILT, SPRING) and (
            self.kind != COUPLED or self.side != 0)


def terms_of(model: Model, kinds: tuple[str, ...]) -> tuple[Term, ...]:
    """
    Return the terms of all joints of one coordinate; passive ones have no offset or load.

    A base that floats has no tilt, nor has one without gravity.

    Args:
        model: a Model.
        kinds: of FRICTION_TERMS and MORE_TERMS.

    Returns:
        the terms.

    >>> len(terms_of(model, ('damping', 'friction')))
    12
    """
    found = []
    floats = any(joint.type_name == 'free' and joint.parent is None for joint in model.joint_list)
    for kind in kinds:
        if kind == TILT:
            found += [Term(TILT, k) for k in range(2) if model.gravity.any() and not floats]
            continue
        if kind == COUPLED:
            found += [Term(COUPLED, at, other=other, side=side) for at, other in _neighbours(model)
                      for side in (1, -1, 0)]
            continue
        for joint in model.joint_list:
            spec = JOINT_TYPES[joint.type_name]
            if spec.nq == spec.nv and (joint.actuated or kind not in (OFFSET_TERM, LOAD)):
                found += [Term(kind, joint.vi + k, qi=joint.qi + k) for k in range(spec.nv)]
    return tuple(found)


def _neighbours(model: Model) -> list[tuple[int, int]]:
    """Return the coordinates of a joint and the next one that moves it, both turning."""
    turns = {joint.vi for joint in model.joint_list
             if joint.actuated and joint.type_name == 'revolute'}
    table = model.link_table
    pairs = [(int(table.vi[parent]), int(vi)) for vi, parent in zip(table.vi, table.parent)
             if parent >= 0]
    return [pair for pair in pairs if turns.issuperset(pair)]
