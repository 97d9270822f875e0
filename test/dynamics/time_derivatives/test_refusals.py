# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What the derivatives of the dynamics refuse, and that a refusal leaves nothing behind."""

import numpy as np
import pytest
from support.dynamics_cases import Case, make_case

from liedyn_ros.common.errors import (
    LiedynError, LimitError, NotFiniteError, NotInGroupError, ShapeError, SingularError)
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.time_derivatives.kernels.forward import hybrid_series
from liedyn_ros.dynamics.time_derivatives.kernels.inverse import inverse_series
from liedyn_ros.model import ModelBuilder


@pytest.fixture
def tree() -> Case:
    """Return a floating machine."""
    return make_case(1, True)


@pytest.mark.parametrize('order, error, message', [
    (-1, LimitError, r'^order: expected 0 to 30, got -1'),
    (31, LimitError, r'^order: expected 0 to 30, got 31'),
    (10**9, LimitError, r'^order: expected 0 to 30'),
    (2.0, LiedynError, r'^order: expected a whole number, got 2.0'),
    (None, LiedynError, r'^order: expected a whole number, got None'),
])
def test_orders(tree: Case, order: object, error: type, message: str) -> None:
    d, q, rows, mask = tree.dynamics, tree.q, np.zeros((4, tree.model.nv)), tree.v > 0.0
    for call in (lambda: d.inverse_series(q, rows, order),
                 lambda: d.forward_series(q, tree.v, rows, order),
                 lambda: d.hybrid_series(q, tree.v, mask, rows, rows, order)):
        with pytest.raises(error, match=message):
            call()


def test_the_largest_order_works(tree: Case) -> None:
    motion = 0.1 * tree.rng.normal(size=(32, tree.model.nv))
    assert np.isfinite(tree.dynamics.inverse_series(tree.q, motion, 30)).all()


def test_missing_derivatives_are_counted(tree: Case) -> None:
    d, q, v, rows, mask = tree.dynamics, tree.q, tree.v, np.zeros((3, len(tree.v))), tree.v > 0.0
    with pytest.raises(ShapeError, match=r'^motion: expected derivatives 0 to 3, .* got 3 rows'):
        d.inverse_series(q, rows, 2)
    with pytest.raises(ShapeError, match=r'^tau: expected derivatives 0 to 3, .* got 3 rows'):
        d.forward_series(q, v, rows, 3)
    with pytest.raises(ShapeError, match=r'^a: expected derivatives 0 to 3, .* got 3 rows'):
        d.hybrid_series(q, v, mask, rows, rows, 3)
    for wrong in (rows[:, 1:], rows.ravel(), np.zeros((5, len(v)))):
        with pytest.raises(ShapeError, match=r'^motion: expected shape'):
            d.inverse_series(q, wrong, 1)
    with pytest.raises(ShapeError, match=r'^external: expected shape \(2, '):
        d.inverse_series(q, rows, 1, tree.external)
    with pytest.raises(LiedynError, match=r"^motion: expected an array of real .* 'fast'"):
        d.inverse_series(q, 'fast', 1)


def test_numbers_must_be_finite(tree: Case) -> None:
    d, q, v, mask = tree.dynamics, tree.q, tree.v, np.arange(tree.model.nv) % 2 == 0
    rows, bad = np.ones((3, len(v))), np.ones((3, len(v)))
    bad[2, 1] = np.nan
    with pytest.raises(NotFiniteError, match=r'^motion\[2, 1\]'):
        d.inverse_series(q, bad, 1)
    with pytest.raises(NotFiniteError, match=r'^tau\[2, 1\]'):
        d.forward_series(q, v, bad, 2)
    with pytest.raises(NotFiniteError, match=r'^tau\[2, 1\]'):
        d.hybrid_series(q, v, mask, rows, bad, 2)
    d.hybrid_series(q, v, mask, bad, rows, 2)  # what is not given is not read
    with pytest.raises(NotInGroupError, match=r'^q\[3:7\]: expected a quaternion'):
        d.inverse_series(1.01 * q, rows, 1)
    with pytest.raises(LimitError, match=r'results are finite'):
        d.inverse_series(q, 1e200 * rows, 1)


def test_a_refusal_leaves_nothing_behind(tree: Case) -> None:
    d, q, v = tree.dynamics, tree.q, tree.v
    motion = tree.rng.normal(size=(8, len(v)))
    before = d.inverse_series(q, motion, 6)
    wrenches = tree.rng.normal(size=(7, *tree.external.shape))
    d.inverse_series(q, motion, 6, wrenches)
    wrenches[3, 2, 1] = np.inf
    with pytest.raises(NotFiniteError, match=r'^external\[3, 2, 1\]'):
        d.inverse_series(q, motion, 6, wrenches)
    with pytest.raises(LimitError):
        d.inverse_series(q, 1e150 * motion, 6)
    with pytest.raises(LimitError):
        d.forward_series(q, 1e150 * v, motion[:7], 6)
    np.testing.assert_array_equal(d.inverse_series(q, motion, 6), before)
    np.testing.assert_allclose(d.forward_series(q, motion[0], before, 6), motion[1:], atol=1e-6)
    d.inverse(q, v, v)  # and order zero has no wrenches of ours either
    np.testing.assert_array_equal(
        d.inverse(q, v, v), make_case(1, True).dynamics.inverse(q, v, v))


def test_a_coordinate_that_moves_no_inertia_is_named() -> None:
    builder = ModelBuilder('bare')
    builder.add_body('tip', None)
    builder.add_joint('wrist', 'revolute', None, 'tip', axis=(0.0, 0.0, 1.0))
    dynamics = Dynamics(builder.build())
    with pytest.raises(SingularError, match=r'^wrist: expected inertia of its own'):
        dynamics.forward_series([0.0], [0.0], np.zeros((3, 1)), 2)


def test_any_layout_of_input_runs_the_one_compiled_kernel(tree: Case) -> None:
    d, motion = tree.dynamics, np.ones((4, tree.model.nv))
    wanted = d.inverse_series(tree.q, motion, 2)
    for same in (motion.tolist(), np.asfortranarray(motion), motion.astype(int)):
        np.testing.assert_array_equal(d.inverse_series(list(tree.q), same, np.int32(2)), wanted)
    d.forward_series(tree.q, motion[0], np.asfortranarray(motion), 3)
    assert len(inverse_series.signatures) == len(hybrid_series.signatures) == 1
