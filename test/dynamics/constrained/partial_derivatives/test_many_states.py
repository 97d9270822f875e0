# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Partial derivatives of many states of machines with closed loops."""

import numpy as np
import pytest
from support.machines.loop_states import ALL, state
from support.refusals import ANY, refused

from liedyn_ros.common.errors import LiedynError, ShapeError
from liedyn_ros.dynamics.batch import pool
from liedyn_ros.dynamics.constrained.partial_derivatives import states
from liedyn_ros.dynamics.partial_derivatives import many_states

NAMES = 'revolute', 'bennett', 'floating', 'gears'


@pytest.mark.parametrize('name', NAMES)
def test_each_state_is_as_alone(name: str) -> None:
    dynamics, q, v, tau, w, rng = state(ALL[name])
    n = dynamics.model.nv
    a = dynamics.forward(q, v, tau[0], w).a
    y, external = rng.normal(size=(2, n)), np.stack([w, np.zeros_like(w)])
    two = {'q': np.stack([q, q]), 'v': np.stack([v, 0.0 * v]), 'a': np.stack([a, 0.0 * a]),
           'tau': tau[:2]}
    known = np.ones(n, dtype=bool)  # prescribed, as a mask for all states
    cases = ((dynamics.forward, ('q', 'v', 'tau'), ()),
             (dynamics.inverse, ('q', 'v', 'a'), ()),
             (dynamics.hybrid, ('q', 'v', 'a', 'tau'), (2, known)))
    for algorithm, names, mask in cases:
        calls, rows = algorithm.partial_derivatives, [two[each] for each in names]
        options = {'actuated': known} if algorithm is dynamics.inverse else {}

        def arguments(given, mask=mask):
            return [*given[:mask[0]], mask[1], *given[mask[0]:]] if mask else given

        for of_one, of_many, more in ((calls, calls.batch, []),
                                      (calls.gradient, calls.gradient_batch, [y])):
            found = of_many(*arguments([*rows, *more]), external=external, **options)
            for s in range(2):
                wanted = of_one(*arguments([each[s] for each in (*rows, *more)]),
                                external=external[s], **options)
                assert type(found) is type(wanted)
                for both, one in zip(found, wanted):
                    np.testing.assert_array_equal(both[s], one)


def test_threads_share_many_states(monkeypatch) -> None:
    dynamics, q, v, _, w, rng = state(ALL['bennett'])
    monkeypatch.setattr(pool, 'usable_cores', lambda: 3)
    for module in (states, many_states):
        monkeypatch.setattr(module, 'of_state', None)  # nothing here is Python's
    count = 100
    qs, vs = np.tile(q, (count, 1)), rng.normal(size=(count, 1)) * v
    taus, ys = rng.normal(size=(2, count, dynamics.model.nv))
    ws, calls = np.tile(w, (count, 1, 1)), dynamics.forward.partial_derivatives
    found = calls.batch(qs, vs, taus, external=ws), calls.gradient_batch(
        qs, vs, taus, ys, external=ws)
    for s in range(0, count, 7):
        for many, one in zip(found, (calls(qs[s], vs[s], taus[s], w), calls.gradient(
                qs[s], vs[s], taus[s], ys[s], w))):
            for both, alone in zip(many, one):
                np.testing.assert_array_equal(both[s], alone)


def test_what_is_refused_names_the_state() -> None:
    dynamics, q, v, tau, *_ = state(ALL['revolute'])
    batch = dynamics.forward.partial_derivatives.batch
    with refused(LiedynError, ANY) as caught:
        batch([q, q + 0.3], [v, v], tau[:2])
    assert str(caught.value).startswith('[1] ')
    with refused(ShapeError, 'tau'):
        batch([q, q], [v, v], tau[:1])
