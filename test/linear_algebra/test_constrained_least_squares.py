# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Least squares while rows hold and within bounds: exact conditions, clarabel, scipy."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, lsq_linear
from support.least_squares import within_constraints

from liedyn_ros.common.checks import Array
from liedyn_ros.linear_algebra.bounded_least_squares import within_bounds


class Program(NamedTuple):
    """Rows whose first ones hold, what they are to be, damping and bounds."""

    rows: Array
    wanted: Array
    held: int
    damping: Array
    lower: Array
    upper: Array


def program(seed: int, spread: float) -> Program:
    """Return a random program that has solutions within bounds, corners for a large spread."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    held, tasks = int(rng.integers(0, n)), int(rng.integers(1, 8))
    lower, upper = -rng.uniform(size=n), rng.uniform(size=n)
    lower[rng.uniform(size=n) < 0.1 * (seed % 3)] = 0.0
    upper[lower == 0.0] = 0.0
    upper[rng.uniform(size=n) < 0.3 * (seed % 2)] = np.inf
    rows = rng.normal(size=(held + tasks, n))
    inside = np.clip(spread * rng.uniform(-1.0, 1.0, n), lower, upper)
    inside = np.where(spread < 1.0, inside * np.minimum(-lower, upper), inside)
    wanted = np.append(rows[:held] @ inside, 5.0 * rng.normal(size=tasks))
    if held and seed % 5 == 0:  # rows that depend on the others
        mix = rng.normal(size=(2, held))
        rows, wanted = np.vstack((mix @ rows[:held], rows)), np.append(
            mix @ wanted[:held], wanted)
        held += 2
    return Program(rows, wanted, held, np.full(n, 10.0**rng.uniform(-6.0, -2.0)), lower, upper)


def solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Return the exact solution of a regular system."""
    count = len(right)
    rows = [[*row, last] for row, last in zip(matrix, right)]
    for s in range(count):
        best = max(range(s, count), key=lambda k: abs(rows[k][s]))
        rows[s], rows[best] = rows[best], rows[s]
        for k in range(count):
            if k != s:
                share = rows[k][s] / rows[s][s]
                rows[k] = [a - share * b for a, b in zip(rows[k], rows[s])]
    return [rows[s][count] / rows[s][s] for s in range(count)]


def exact_least(of: Program, at_bound: Any, chosen: Any) -> tuple[list[Fraction], list[Fraction]]:
    """Return x and multipliers of its bounds, where some are active and rows of C are chosen."""
    n, near = of.rows.shape[1], of.rows[of.held:]
    a = [[Fraction(float(each)) for each in row] for row in near]
    b = [Fraction(float(each)) for each in of.wanted[of.held:]]
    normal = [[sum((row[i] * row[j] for row in a), Fraction(0)) + (
        Fraction(float(of.damping[i])) if i == j else 0) for j in range(n)] for i in range(n)]
    side = [sum((row[i] * to for row, to in zip(a, b)), Fraction(0)) for i in range(n)]
    bound = [j for j in range(n) if at_bound[j]]
    rows = [[Fraction(float(each)) for each in of.rows[i]] for i in chosen] + [
        [Fraction(int(i == j)) for i in range(n)] for j in bound]
    to = [Fraction(float(of.wanted[i])) for i in chosen] + [
        Fraction(float(of.lower[j] if at_bound[j] < 0 else of.upper[j])) for j in bound]
    k = len(rows)
    matrix = [[*normal[i], *(row[i] for row in rows)] for i in range(n)] + [
        [*row, *([Fraction(0)] * k)] for row in rows]
    found = solved(matrix, [*side, *to])
    return found[:n], found[n + len(chosen):]


@pytest.mark.whole
@pytest.mark.parametrize('seed', range(40))
def test_the_least_is_that_of_exact_arithmetic(seed: int) -> None:
    """Where bounds are active, multipliers push; elsewhere x is within; x has 1e-9 of its size."""
    of = program(seed, 0.9)
    x = within_constraints(*of)
    assert x is not None
    at_bound = np.where(x == of.lower, -1, np.where(x == of.upper, 1, 0))
    chosen = list(range(of.held))[2 * (of.held > 0 and seed % 5 == 0):]  # independent
    del chosen[len(x) - np.count_nonzero(at_bound):]
    exact, push = exact_least(of, at_bound, chosen)
    sizes = max(1.0, float(max(map(abs, exact))))
    assert max(abs(float(e) - f) for e, f in zip(exact, x)) < 1e-9 * sizes
    inside = at_bound[at_bound != 0], of.lower[at_bound != 0] == of.upper[at_bound != 0]
    most = max((abs(float(each)) for each in push), default=0.0)
    assert all(fixed or float(each) * side > -1e-9 * most
               for each, side, fixed in zip(push, *inside))


@pytest.mark.whole
@pytest.mark.parametrize('seed', range(40))
def test_whether_there_is_one_is_as_a_linear_program_finds(seed: int) -> None:
    of = program(seed, 1.0 + seed % 3)
    some = (seed % 2) * np.random.default_rng(seed).normal(size=of.rows.shape[1])
    of.wanted[:of.held] += of.rows[:of.held] @ some
    rows, wanted = of.rows[:of.held], of.wanted[:of.held]
    theirs = linprog(np.zeros(len(of.lower)), A_eq=rows, b_eq=wanted,
                     bounds=list(zip(of.lower, of.upper)))
    assert (within_constraints(*of) is not None) == (theirs.status == 0)


@pytest.mark.parametrize('seed', range(10))
def test_no_more_is_missed_than_by_clarabel(seed: int) -> None:
    clarabel = pytest.importorskip('clarabel')
    of = program(seed, 3.0)
    x, n = within_constraints(*of), len(of.lower)
    assert x is not None
    near, wanted, high = of.rows[of.held:], of.wanted[of.held:], np.isfinite(of.upper)
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    cones = [clarabel.ZeroConeT(of.held)] * (of.held > 0) + [
        clarabel.NonnegativeConeT(n + int(high.sum()))]
    theirs = np.array(clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(near.T @ near + np.diag(of.damping))), -near.T @ wanted,
        sparse.csc_matrix(np.vstack((of.rows[:of.held], np.eye(n)[high], -np.eye(n)))),
        np.concatenate((of.wanted[:of.held], of.upper[high], -of.lower)), cones,
        settings).solve().x)

    def missed(of_x: Array) -> float:
        return float(np.sum((near @ of_x - wanted)**2) + of.damping @ of_x**2)

    assert missed(x) <= missed(theirs) + 1e-6 * (1.0 + missed(theirs))


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
