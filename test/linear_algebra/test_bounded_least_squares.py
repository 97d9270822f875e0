# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Least squares within bounds: the conditions of the least, and scipy where it reaches it."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from liedyn_ros.linear_algebra.bounded_least_squares import within_bounds


def problem(rng, spread, rows):
    """Return A, b and bounds; rows weigh as differently as 10^-spread, the heaviest first."""
    columns = int(rng.integers(2, 13))
    weights = np.sort(10.0**rng.uniform(-spread, 0.0, rows))[::-1]
    return (weights[:, None] * rng.normal(size=(rows, columns)),
            3.0 * weights * rng.normal(size=rows), -rng.uniform(size=columns),
            rng.uniform(size=columns))


@pytest.mark.whole
@pytest.mark.parametrize('seed', range(20))
def test_as_scipy_where_rows_weigh_alike(seed):
    matrix, wanted, lower, upper = problem(np.random.default_rng(seed), 0.0, 13)
    found = within_bounds(matrix, wanted, lower, upper, np.zeros(len(lower)))
    theirs = lsq_linear(matrix, wanted, (lower, upper), method='bvls', tol=1e-15).x
    assert np.abs(found - theirs).max() < 1e-10


@pytest.mark.whole
@pytest.mark.parametrize('rows', [4, 12])
@pytest.mark.parametrize('seed', range(10))
def test_nothing_within_bounds_is_nearer(seed, rows):
    """Whatever rows weigh: none of many other points, and none that scipy finds."""
    rng = np.random.default_rng(seed)
    matrix, wanted, lower, upper = problem(rng, 6.0, rows)
    found = within_bounds(matrix, wanted, lower, upper, np.zeros(len(lower)))
    assert (lower <= found).all() and (found <= upper).all()

    def far(x):
        return float(np.linalg.norm(matrix @ x - wanted))

    others = [lsq_linear(matrix, wanted, (lower, upper), method='bvls', tol=1e-15).x]
    others += [np.clip(found + 10.0**rng.uniform(-8.0, 0.0) * rng.normal(size=len(found)),
                       lower, upper) for _ in range(100)]
    assert far(found) <= min(map(far, others)) + 1e-13


def test_a_start_stays_where_nothing_tells_of_it():
    near = np.array([0.25, 0.5, 7.0])
    found = within_bounds(np.array([[1.0, 0.0, 0.0]]), np.array([0.75]), np.zeros(3), np.ones(3),
                          near)
    assert found.tolist() == [0.75, 0.5, 1.0]
