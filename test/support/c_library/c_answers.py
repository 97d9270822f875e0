# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The same states for Python and for the program `answers` of the C library."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from support.c_library.comparison import answers
from support.machines.model_variants import sprung
from support.machines.random_models import random_model

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics, LOCAL, LOCAL_WORLD_ALIGNED, WORLD
from liedyn_ros.export import write_model
from liedyn_ros.model import Model


class State(NamedTuple):
    """What the program reads of one state."""

    q: Array
    v: Array
    a: Array
    tau: Array
    external: Array
    prescribed: Array
    dv: Array


def random_tree(seed: int) -> Model:
    """
    Return a random tree of ten joints, every second one on a floating base.

    Those of odd halves have springs and armatures.
    """
    loaded = seed // 2 % 2
    return sprung(random_model(seed, 10, floating=seed % 2 == 1), seed, 30.0 * loaded,
                  3.0 * loaded)


def random_states(model: Model, order: int, count: int, seed: int) -> list[State]:
    """Return states with every input random."""
    rng, nv = np.random.default_rng(seed), model.nv
    rows, bodies = order + 1, len(model.bodies)
    return [State(
        model.random(rng), rng.normal(size=nv), rng.normal(size=(rows, nv)),
        rng.normal(size=(rows, nv)), rng.normal(size=(rows, bodies, 6)),
        rng.integers(0, 2, nv).astype(bool), rng.normal(size=nv)) for _ in range(count)]


def answers_of_c(program: list[object], folder: Path, model: Model, states: list[State],
                 dissipation: bool = True) -> Array:
    """Return what the program answers, a state a row."""
    order = len(states[0].a) - 1
    write_model(folder / 'model.liedyn', model, tree=True, dissipation=dissipation)
    return answers(program, folder, states, order)


def answers_of_python(model: Model, states: list[State], dissipation: bool = True
                      ) -> list[dict[str, Array]]:
    """Return the same by name, in the order of the program."""
    dynamics = Dynamics(model, dissipation=dissipation)
    return [dict(_answers(dynamics, model, state)) for state in states]


def _answers(dynamics: Dynamics, model: Model, state: State) -> Iterator[tuple[str, Array]]:
    q, v, a, tau, external, prescribed, dv = state
    free = {'max_error': np.inf}
    yield 'inverse', dynamics.inverse(q, v, a[0], external[0])
    yield 'inverse without wrenches', dynamics.inverse(q, v, a[0])
    yield 'bias', dynamics.bias(q, v, external[0])
    yield 'gravity', dynamics.gravity_vector(q)
    yield 'forward', dynamics.forward(q, v, tau[0], external[0])
    yield 'mass matrix', dynamics.mass_matrix(q)
    yield 'coriolis matrix', dynamics.coriolis_matrix(q, v)
    yield 'inverse derivatives', dynamics.inverse.time_derivatives(q, v, a, external)
    yield 'forward derivatives', dynamics.forward.time_derivatives(q, v, tau, external, **free)
    yield from zip(('hybrid a', 'hybrid tau'), dynamics.hybrid(
        q, v, prescribed, a[0], tau[0], external[0]))
    yield from zip(('hybrid derivatives of a', 'hybrid derivatives of tau'),
                   dynamics.hybrid.time_derivatives(q, v, prescribed, a, tau, external, **free))
    yield from zip(('poses', 'twists', 'accelerations'), dynamics.kinematics(q, v, a[0]))
    frame, frames = model.frames[-1], dynamics.frames
    for axes, name in ((WORLD, 'world'), (LOCAL, 'local'), (LOCAL_WORLD_ALIGNED, 'aligned')):
        yield f'frame pose {name}', frames.pose(q, frame)
        yield f'frame twist {name}', frames.twist(q, v, frame, axes)
        yield f'frame acceleration {name}', frames.acceleration(
            q, v, a[0], frame, axes, classical=axes != WORLD)
        yield f'frame jacobian {name}', frames.jacobian(q, frame, axes)
        yield f'frame jacobian rate {name}', frames.jacobian_rate(q, v, frame, axes)
    moved = model.integrate(q, dv)
    yield 'integrate', moved
    yield 'difference', model.difference(q, moved)
    yield from _partial_answers(dynamics, state)


def _partial_answers(dynamics: Dynamics, state: State) -> Iterator[tuple[str, Array]]:
    q, v, (a, *_), (tau, *_), (external, *_), _, dv = state
    partial, by = dynamics.inverse.partial_derivatives, ('by q', 'by v', 'by a')
    yield from _named('inverse jacobian', by, partial(q, v, a, external)[:3])
    yield 'inverse product', partial.product(q, v, a, dv, tau, a, external)
    yield from _named('inverse gradient', by, partial.gradient(q, v, a, dv, external))
    yield from _named('inverse gradient product', by, partial.gradient_product(
        q, v, a, dv, dv, tau, a, external))
    partial, by = dynamics.forward.partial_derivatives, ('a', 'by q', 'by v', 'by tau')
    yield from _named('forward jacobian', by, partial(q, v, tau, external)[:4])
    yield 'forward product a', dynamics.forward(q, v, tau, external)
    yield 'forward product', partial.product(q, v, tau, dv, tau, a, external)
    yield from _named('forward gradient', by, partial.gradient(q, v, tau, dv, external))


def _named(what: str, parts: Iterable[str], values: Iterable[Array]
           ) -> Iterator[tuple[str, Array]]:
    return ((f'{what} {part}', value) for part, value in zip(parts, values))
