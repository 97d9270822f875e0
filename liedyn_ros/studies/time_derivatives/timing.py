# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Cost of time derivatives against bodies and order, beside CasADi where it is installed."""

from collections.abc import Callable
from importlib.util import find_spec
import math
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia

CHAIN_LENGTHS = (2, 4, 8, 12, 16, 20)  # of five branches
FIXED_ORDER, TIMED_ORDERS = 3, range(11)
TIMING_ROUNDS, BLOCK_DURATION = 15, 2e-3  # s
BUILD_TIMEOUT = 3.0  # s to build an expression; the next takes several times as long

OWN_FUNCTIONS = ('inverse', 'forward')
Curve = dict[str, list[tuple[int, float]]]  # (bodies or order, us)


class CostPolynomial(NamedTuple):
    """A polynomial through times: its coefficients, lowest first, and the worst relative error."""

    variable: str
    coefficients: tuple[float, ...]
    error: float

    @property
    def degree(self) -> int:
        """Return the degree of the polynomial."""
        return len(self.coefficients) - 1

    def at(self, x: Array) -> Array:
        """Return the times, us, at numbers of bodies or orders."""
        return np.vander(x, self.degree + 1, increasing=True) @ np.array(self.coefficients)

    def __str__(self) -> str:
        """Return the polynomial in words."""
        powers = ['', f' {self.variable}', f' {self.variable}^2']
        terms = [f'{c:.3g}{power}' for c, power in zip(self.coefficients, powers)]
        return f'{" + ".join(terms[::-1])} us, within {100.0 * self.error:.0f} %'


class Timing(NamedTuple):
    """Times by name of the algorithm."""

    by_bodies: Curve
    by_order: Curve

    @property
    def linear(self) -> dict[str, CostPolynomial]:
        """Return the fits of O(N) to the times of this package."""
        return {name: fit('N', self.by_bodies[name], 1) for name in OWN_FUNCTIONS}

    @property
    def quadratic(self) -> dict[str, CostPolynomial]:
        """Return the fits of O(r^2) to the times of this package."""
        return {name: fit('r', self.by_order[name], 2) for name in OWN_FUNCTIONS}


def measure() -> Timing:
    """Return all times, with progress."""
    with_casadi = find_spec('casadi') is not None
    if not with_casadi:
        print('  CasADi is not installed, only this package is timed. To time both: '
              'pip install casadi')
    by_bodies, by_order = TimingCurves(with_casadi), TimingCurves(with_casadi)
    for length in CHAIN_LENGTHS:
        model = branches(5, length)
        print(f'  {len(model.bodies)} bodies, order {FIXED_ORDER}', flush=True)
        by_bodies.add(len(model.bodies), model, FIXED_ORDER)
    for order in TIMED_ORDERS:
        print(f'  {len(model.bodies)} bodies, order {order}', flush=True)
        by_order.add(order, model, order)
    return Timing(by_bodies.curves, by_order.curves)


class TimingCurves:
    """Times along one axis; those of CasADi stop where its expressions grow too large."""

    def __init__(self, with_casadi: bool) -> None:
        """Start empty."""
        self.curves: Curve = {}
        self._casadi = {'inverse': with_casadi, 'forward': with_casadi}

    def add(self, at: int, model: Model, order: int) -> None:
        """Time everything at one point, in turns."""
        rng = np.random.default_rng(0)
        dynamics = Dynamics(model, dissipation=False)
        q, motion = model.random(rng), rng.normal(size=(order + 2, model.nv))
        v, a = motion[0].copy(), motion[1:].copy()
        tau = dynamics.inverse.time_derivatives(q, v, a)
        calls: dict[str, Callable[[], Any]] = {
            'inverse': lambda: dynamics.inverse.time_derivatives(q, v, a),
            'forward': lambda: dynamics.forward.time_derivatives(
                q, v, tau, max_error=math.inf)}
        given = {'inverse': motion, 'forward': np.vstack([motion[:1], tau])}
        for name, still in self._casadi.items():
            if still:
                from liedyn_ros.studies.time_derivatives import casadi
                begin = perf_counter()
                function = getattr(casadi, name)(model, order)
                self._casadi[name] = perf_counter() - begin < BUILD_TIMEOUT
                calls[f'{name}, CasADi'] = _bound(function, q, given[name], np.empty_like(tau))
        for name, time in least_times(calls).items():
            self.curves.setdefault(name, []).append((at, 1e6 * time))


def _bound(function: Callable[..., None], *arguments: Any) -> Callable[[], None]:
    return lambda: function(*arguments)


def fit(variable: str, points: list[tuple[int, float]], degree: int) -> CostPolynomial:
    """Return the polynomial with the least squares of relative errors."""
    x, y = np.array(points, dtype=float).T
    weighted = np.vander(x, degree + 1, increasing=True) / y[:, None]
    coefficients, *_ = np.linalg.lstsq(weighted, np.ones(len(y)))
    return CostPolynomial(variable, tuple(coefficients.tolist()),
                          float(np.abs(weighted @ coefficients - 1.0).max()))


def least_times(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the least time of each call, s, as others on the machine only add; all take turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    counts = {name: max(1, round(BLOCK_DURATION / _time(call, 2))) for name, call in calls.items()}
    for _ in range(TIMING_ROUNDS):
        for name, call in calls.items():
            times[name].append(_time(call, counts[name]))
    return {name: min(taken) for name, taken in times.items()}


def _time(call: Callable[[], Any], count: int) -> float:
    begin = perf_counter()
    for _ in range(count):
        call()
    return (perf_counter() - begin) / count


def branches(count: int, length: int) -> Model:
    """Return a free base with chains of revolute joints, axes and placements random."""
    rng = np.random.default_rng(0)
    builder = ModelBuilder(f'branches_{count}_{length}')
    bodies = [('base', 'base')] + [
        (f'body_{i}_{j}', f'body_{i}_{j - 1}' if j else 'base')
        for i in range(count) for j in range(length)]
    for name, parent in bodies:
        moments = np.diag(rng.uniform(0.01, 0.018, 3))
        builder.add_body(name, SpatialInertia(
            rng.uniform(0.5, 2.0), rng.uniform(-0.1, 0.1, 3), moments))
        if name == 'base':
            builder.add_joint('root', 'free', None, name)
            continue
        placement = np.eye(4)
        placement[:3, 3] = rng.uniform(-0.2, 0.2, 3)
        builder.add_joint(f'joint_of_{name}', 'revolute', parent, name, placement=placement,
                          axis=rng.normal(size=3))
    return builder.build()
