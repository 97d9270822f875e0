# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Machines with closed loops in motion, on which derivatives are tested."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from support.machines.looped_machines import (
    bennett, five_bar, four_bar, Looped, random_looped, side_by_side)
from support.machines.model_variants import sprung

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, project
from liedyn_ros.model import CLOSURE_TYPES, Coupling, Model


def geared(looped: Looped) -> Looped:
    """Return the machine with a coupling of its two revolute joints, which holds there."""
    (one, other), ratio = (looped.model.joint(f'revolute_{i}') for i in (0, 6)), 0.5
    offset = looped.q[other.qi] - ratio * looped.q[one.qi]
    coupling = Coupling(other.name, one.name, ratio, offset, ())
    return Looped(replace(looped.model, couplings=(coupling,)), looped.q)


def sprung_loop(looped: Looped) -> Looped:
    """Return the machine with springs and armatures."""
    return Looped(sprung(looped.model), looped.q)


class Machines(Mapping[str, Looped]):
    """Machines by name; each is built, and its loops closed, where a test first asks for it."""

    def __init__(self, builders: dict[str, Callable[[], Looped]]) -> None:
        """Take the functions that build them."""
        self._builders, self._built = builders, dict[str, Looped]()

    def __getitem__(self, name: str) -> Looped:
        """Return one of them, the same at every call."""
        if name not in self._built:
            self._built[name] = self._builders[name]()
        return self._built[name]

    def __contains__(self, name: object) -> bool:
        """Return whether there is such a machine; nothing is built."""
        return name in self._builders

    def __iter__(self) -> Iterator[str]:
        """Go through the names; nothing is built."""
        return iter(self._builders)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._builders)

    def __or__(self, other: 'Machines') -> 'Machines':
        """Return these and others; they are built once for both."""
        return Machines({name: partial(machines.__getitem__, name)
                         for machines in (self, other) for name in machines})


_STATES: dict[Model, tuple[ConstrainedDynamics, Array, Array]] = {}


def assembled(model: Model) -> Looped:
    """Return a model with the configuration of closed loops nearest to zero."""
    return Looped(model, assemble(ConstrainedDynamics(model)))


EVERY = Machines({
    **{kind: partial(random_looped, i, (kind,)) for i, kind in enumerate(CLOSURE_TYPES)},
    'two loops': partial(random_looped, 20, ('spherical', 'point_on_plane'), joints=10),
    'balls': partial(random_looped, 21, ('spherical', 'rod'), 8, ('spherical', 'revolute')),
    'gears': lambda: geared(random_looped(23, ('rod',))),
    'springs': lambda: sprung_loop(random_looped(24, ('universal',))),
    'floating': partial(random_looped, 22, ('revolute',), 8, floating=True)})
REDUNDANT = Machines({
    'bennett': bennett, 'four bar': lambda: assembled(four_bar()),
    'side by side': lambda: side_by_side([assembled(four_bar()), assembled(five_bar())])})
ALL = EVERY | REDUNDANT


def state(looped: Looped):
    """
    Return the dynamics, a state on the constraints, forces and their rates, and wrenches.

    The dynamics of a model are the same at every call, whatever other tests asked of them.
    """
    rng, model = np.random.default_rng(5), looped.model
    push = rng.normal(size=model.nv)
    if model not in _STATES:
        dynamics = ConstrainedDynamics(model)
        _STATES[model] = (dynamics, *project(dynamics, looped.q, push))
    dynamics, q, v = _STATES[model]
    return (dynamics, q.copy(), v.copy(), rng.normal(size=(2, model.nv)),
            rng.normal(size=(len(model.bodies), 6)), rng)


def closed(dynamics, q, v):
    """
    Return a state on the constraints near one, as a smooth function of it: four steps.

    Of a machine that is redundant by its geometry the rows have their full rank off the loops, so
    the pseudo-inverse keeps as many singular values as there are on them.
    """
    rank = dynamics.mobility.rank
    for _ in range(4):
        f, rows = dynamics.residual_and_jacobian(q)
        q = dynamics.model.integrate(q, -_pinv(rows, rank) @ f)
    rows = dynamics.jacobian(q)
    return q, v - _pinv(rows, rank) @ (rows @ v)


def _pinv(rows, rank):
    """Return the pseudo-inverse by the largest singular values, as many as the rank."""
    u, s, vt = np.linalg.svd(rows, full_matrices=False)
    return (vt[:rank].T / s[:rank]) @ u[:, :rank].T
