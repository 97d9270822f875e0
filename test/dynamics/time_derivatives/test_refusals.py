# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Refusals of the time derivatives of the dynamics; they leave nothing behind."""

from functools import partial

import numpy as np
import pytest
from support.machines.dynamics_cases import Case, make_case
from support.refusals import refused

from liedyn_ros.common.errors import (
    LiedynError, LimitError, NotFiniteError, NotInGroupError, ShapeError, SingularError)
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import ModelBuilder


@pytest.fixture
def tree() -> Case:
    """Return a floating machine."""
    return make_case(1, True)


def test_an_order_beyond_the_error_that_is_allowed_is_refused(tree: Case) -> None:
    """Of one order, too."""
    d, q, v, rows = tree.dynamics, tree.q, tree.v, np.tile(tree.v, (2, 1))
    for call in (partial(d.forward.time_derivatives, q, v, rows),
                 partial(d.hybrid.time_derivatives, q, v, v > 0.0, rows, rows)):
        with refused(LimitError, indices=(0,), expected=1e-300):
            call(max_error=1e-300)


@pytest.mark.parametrize('rows, error', [
    (0, ShapeError), (32, LimitError), (1000, LimitError)])
def test_orders(tree: Case, rows: int, error: type) -> None:
    d, q, v, mask = tree.dynamics, tree.q, tree.v, tree.v > 0.0
    many = np.zeros((rows, tree.model.nv))
    for name, call in (('a', lambda: d.inverse.time_derivatives(q, v, many)),
                       ('tau', lambda: d.forward.time_derivatives(q, v, many)),
                       ('a', lambda: d.hybrid.time_derivatives(q, v, mask, many, many))):
        with refused(error, name):
            call()


def test_the_largest_order_works(tree: Case) -> None:
    a = 0.1 * tree.rng.normal(size=(31, tree.model.nv))
    assert np.isfinite(tree.dynamics.inverse.time_derivatives(tree.q, 0.1 * tree.v, a)).all()


def test_shapes(tree: Case) -> None:
    d, q, v, rows, mask = tree.dynamics, tree.q, tree.v, np.zeros((3, len(tree.v))), tree.v > 0.0
    with refused(ShapeError, 'tau', got=(2, 26)):
        d.hybrid.time_derivatives(q, v, mask, rows, rows[:2])
    with refused(ShapeError, 'external', got=(1, 11, 6)):
        d.inverse.time_derivatives(q, v, rows, tree.external[None])
    with refused(ShapeError, 'a'):
        d.inverse.time_derivatives(q, v, rows[:, 1:])
    with refused(ShapeError, 'a'):
        d.inverse.time_derivatives(q, v, v)
    with refused(ShapeError, 'tau'):
        d.forward.time_derivatives(q, v, rows[:, 1:])
    with refused(ShapeError, 'external'):
        d.inverse.time_derivatives(q, v, rows[:2], tree.external)
    with refused(LiedynError, 'a'):
        d.inverse.time_derivatives(q, v, [['fast'] * len(v)])


def test_numbers_must_be_finite(tree: Case) -> None:
    d, q, v, mask = tree.dynamics, tree.q, tree.v, np.arange(tree.model.nv) % 2 == 0
    rows, bad = np.ones((3, len(v))), np.ones((3, len(v)))
    bad[2, 1] = np.nan
    with refused(NotFiniteError, 'a', indices=(2, 1)):
        d.inverse.time_derivatives(q, v, bad)
    with refused(NotFiniteError, 'tau', indices=(2, 1)):
        d.forward.time_derivatives(q, v, bad)
    with refused(NotFiniteError, 'tau', indices=(2, 1)):
        d.hybrid.time_derivatives(q, v, mask, rows, bad)
    d.hybrid.time_derivatives(q, v, mask, bad, rows)  # what is not given is not read
    with refused(NotInGroupError, 'q', indices=(3,)):
        d.inverse.time_derivatives(1.01 * q, v, rows)
    with refused(LimitError, 'q', 'v', 'a'):
        d.inverse.time_derivatives(q, 1e200 * v, rows)


def test_a_refusal_leaves_nothing_behind(tree: Case) -> None:
    d, q, v = tree.dynamics, tree.q, tree.v
    a = tree.rng.normal(size=(7, len(v)))
    before = d.inverse.time_derivatives(q, v, a)
    wrenches = tree.rng.normal(size=(7, *tree.external.shape))
    d.inverse.time_derivatives(q, v, a, wrenches)
    wrenches[3, 2, 1] = np.inf
    with refused(NotFiniteError, 'external', indices=(3, 2, 1)):
        d.inverse.time_derivatives(q, v, a, wrenches)
    with pytest.raises(LimitError):
        d.inverse.time_derivatives(q, 1e150 * v, a)
    with pytest.raises(LimitError):
        d.forward.time_derivatives(q, 1e150 * v, a)
    np.testing.assert_array_equal(d.inverse.time_derivatives(q, v, a), before)
    np.testing.assert_allclose(d.forward.time_derivatives(q, v, before), a, atol=1e-6)
    d.inverse(q, v, v)  # and order zero has no wrenches either
    np.testing.assert_array_equal(
        d.inverse(q, v, v), make_case(1, True).dynamics.inverse(q, v, v))


def test_a_coordinate_that_moves_no_inertia_is_named() -> None:
    builder = ModelBuilder('bare')
    builder.add_body('tip', None)
    builder.add_joint('wrist', 'revolute', None, 'tip', axis=(0.0, 0.0, 1.0))
    dynamics = Dynamics(builder.build())
    with refused(SingularError, 'wrist', indices=(0,)):
        dynamics.forward.time_derivatives([0.0], [0.0], np.zeros((3, 1)))


def test_any_layout_of_input_runs_the_one_compiled_kernel(tree: Case) -> None:
    d, v, a = tree.dynamics, np.ones(tree.model.nv), np.ones((3, tree.model.nv))
    wanted = d.inverse.time_derivatives(tree.q, v, a)
    for same in (a.tolist(), np.asfortranarray(a), a.astype(int), list(a)):
        np.testing.assert_array_equal(d.inverse.time_derivatives(list(tree.q), v, same), wanted)
    d.forward.time_derivatives(tree.q, v, np.asfortranarray(a))


def test_out_is_written_and_shares_no_memory(tree: Case) -> None:
    d, q, v = tree.dynamics, tree.q, tree.v
    a = tree.rng.normal(size=(4, len(v)))
    out = np.empty_like(a)
    assert d.inverse.time_derivatives(q, v, a, out=out) is out
    np.testing.assert_array_equal(out, d.inverse.time_derivatives(q, v, a))
    for name, call in (('a', d.inverse.time_derivatives), ('tau', d.forward.time_derivatives)):
        room = np.zeros((5, len(v)))
        room[:4] = a
        with refused(ShapeError, 'out', name):
            call(q, v, room[:4], out=room[1:])
