# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The Riemannian curvature of the mass metric (Park 66), and its geodesics, for all joints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.dynamics.integrators.runge_kutta_munthe_kaas import chart_rate
from liedyn_ros.dynamics.lagrangian.christoffel import christoffel_symbols, combine
from liedyn_ros.dynamics.tree.screw_tree import ScrewTree
from liedyn_ros.lie import se3
from liedyn_ros.model import Model

Places = tuple[NDArray[np.int64], ...]


class Curvature(NamedTuple):
    """
    The curvature of the kinetic energy metric at a configuration, in the tangents E_i.

    metric (nv, nv) is M. riemann (nv, nv, nv, nv) is R_ijkl = <R(E_k, E_l) E_j, E_i>, all indices
    low: R_1212 = K det M on a surface of Gaussian curvature K, 1 on the unit sphere. It vanishes
    where the machine is in some coordinates a mass that moves freely in a flat space.

    >>> curvature(model, q + 0.5).metric.shape
    (6, 6)
    """

    metric: Array
    riemann: Array

    @property
    def ricci(self) -> Array:
        """Return Ric_jl = g^ik R_ijkl (nv, nv)."""
        return np.einsum('ik,ijkl->jl', np.linalg.inv(self.metric), self.riemann)

    @property
    def scalar(self) -> float:
        """Return g^jl Ric_jl, twice the Gaussian curvature where nv is 2."""
        return float(np.sum(np.linalg.inv(self.metric) * self.ricci))

    def sectional(self, x: ArrayLike, y: ArrayLike) -> float:
        """
        Return the curvature of the plane of two velocities.

        Args:
            x: velocity (nv,).
            y: another one.

        Returns:
            1/(kg m^2); infinite or NaN where they are parallel.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> isinstance(curvature(model, q + 0.5).sectional(np.eye(6)[1], np.eye(6)[2]), float)
        True
        """
        x, y = (as_array(name, value, (len(self.metric),)) for name, value in (('x', x), ('y', y)))
        g = self.metric
        area = (x @ g @ x) * (y @ g @ y) - (x @ g @ y)**2
        with np.errstate(divide='ignore', invalid='ignore'):
            return float(self.riemann @ y @ x @ y @ x / area)

    def deviation(self, separation: ArrayLike, v: ArrayLike) -> Array:
        """
        Return the term by which neighbouring geodesics part (13.47).

        With D_t the covariant derivative along a motion free of forces, D_t^2 eta + R(eta, v) v is
        zero.

        Args:
            separation: eta (nv,).
            v: velocity (nv,); rad/s and m/s.

        Returns:
            R(eta, v) v (nv,).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> curvature(model, q + 0.5).deviation(np.eye(6)[1], v).shape
        (6,)
        """
        eta = as_array('separation', separation, (len(self.metric),))
        v = as_array('v', v, (len(self.metric),))
        bent = np.linalg.solve(self.metric, self.riemann @ v @ eta @ v)
        return np.asarray(bent, dtype=np.float64)


def curvature(model: Model, q: ArrayLike) -> Curvature:
    """
    Return the curvature of the kinetic energy metric, at a cost of O(nv^5).

    Args:
        model: a Model.
        q: configuration (nq,); rad and m.

    Returns:
        metric (nv, nv) and Riemann tensor (nv, nv, nv, nv).

    Raises:
        LinAlgError: of numpy, where M is singular.

    >>> curvature(model, q + 0.5).riemann.shape
    (6, 6, 6, 6)
    """
    tree = ScrewTree(model, q)
    gamma, rates, c = christoffel_symbols(model, q), _derivatives(tree), tree.structure_constants
    raised = gamma @ np.linalg.inv(tree.mass_matrix)  # Gamma_ij^k
    riemann = (np.einsum('klji->ijkl', rates) - np.einsum('lkji->ijkl', rates)
               + np.einsum('kjr,lir->ijkl', raised, gamma)
               - np.einsum('ljr,kir->ijkl', raised, gamma)
               - np.einsum('klr,rji->ijkl', c, gamma))  # (13.46)
    return Curvature(tree.mass_matrix, riemann)


def _derivatives(tree: ScrewTree) -> Array:
    """Return E_p Gamma_ijk (nv, nv, nv, nv): the product rule on (13.42)."""
    nv = tree.model.nv
    result = np.zeros((nv,) * 4)
    for m in range(tree.model.link_table.N):
        path = tree.path(m)
        at = np.ix_(path, path)
        own = tree.link[path] == m
        deepest = own[:, None, None] | own[:, None] | own
        turning = _of_screws(tree, at, tree.composites[m])
        result[np.ix_(path, path, path, path)] += deepest * turning
        for p in range(nv):  # E_p Ic_m, of the deeper of m and p (13.45)
            if tree.moves[m, p] or m in _ancestors(tree, tree.link[p]):
                deeper = m if tree.moves[m, p] else tree.link[p]
                result[p][np.ix_(path, path, path)] += deepest * _of_inertia(
                    tree, at, tree.composites[deeper], tree.screws[p])
    return result


def _of_screws(tree: ScrewTree, at: Places, inertia: Array) -> Array:
    """Return E_p Gamma_ijk on a path, as far as screws turn with p."""
    screws = tree.screws[at[1][0]]
    h, bracket = tree.screw_derivatives[at], tree.brackets[at]
    ad, ad_h = se3.ad(screws), se3.ad(h)
    # E_p [s_i, s_j] = [H_pi, s_j] + [s_i, H_pj]
    turned = np.einsum('piab,jb->pija', ad_h, screws) + np.einsum('iab,pjb->pija', ad, h)
    linked = (tree.before | tree.together)[at][..., None]
    momenta, momenta_h = screws @ inertia, h @ inertia
    return combine(
        (turned * linked) @ momenta.T + np.einsum('ija,pka->pijk', h, momenta_h),
        turned @ momenta.T + np.einsum('ija,pka->pijk', bracket, momenta_h))


def _of_inertia(tree: ScrewTree, at: Places, inertia: Array, screw: Array) -> Array:
    """Return E_p Gamma_ijk on a path, as far as the composite inertia moves with p."""
    ad = se3.ad(screw)
    momenta = tree.screws[at[1][0]] @ (-(inertia @ ad + ad.T @ inertia))
    return combine(tree.screw_derivatives[at] @ momenta.T, tree.brackets[at] @ momenta.T)


def _ancestors(tree: ScrewTree, i: int) -> list[int]:
    """Return the links between a link and the ground."""
    result, parent = [], tree.model.link_table.parent
    while parent[i] >= 0:
        i = parent[i]
        result.append(i)
    return result


DEFAULT_TOLERANCE = 1e-12  # of a step, relative


class Geodesic(NamedTuple):
    """
    The configurations (K, nq) and velocities (K, nv) of a geodesic at the times (K,) asked for.

    >>> geodesic(model, q + 0.5, v, [0.0, 0.1]).velocities.shape
    (2, 6)
    """

    times: Array
    configurations: Array
    velocities: Array


def geodesic(model: Model, q: ArrayLike, v: ArrayLike, times: ArrayLike,
             tolerance: float = DEFAULT_TOLERANCE) -> Geodesic:
    """
    Return the geodesic that leaves a state.

    Its acceleration is -M^-1 C v, so that its speed sqrt(v^T M v) is constant (13.47). Between two
    times the motion is integrated in exponential coordinates about the first of them, by a
    Runge-Kutta method of order eight.

    Args:
        model: a Model.
        q: configuration (nq,); rad and m.
        v: velocity (nv,); rad/s and m/s.
        times: increasing (K,), from 0 on; s.
        tolerance: error of the integration, relative.

    Returns:
        configurations (K, nq) and velocities (K, nv).

    Raises:
        LimitError: for times that do not increase.
        ConvergenceError: where the step becomes too small.

    >>> geodesic(model, q + 0.5, v, [0.0, 0.1]).configurations.shape
    (2, 6)
    """
    dynamics = Dynamics(model, dissipation=False)
    times = as_array('times', times, (-1,))
    tolerance = as_positive('tolerance', tolerance)
    if len(times) and (times[0] < 0.0 or (np.diff(times) <= 0.0).any()):
        raise LimitError(f'times: expected increasing ones from 0 on, got {times.tolist()}')
    q, v, now = model.check_configuration(q), as_array('v', v, (model.nv,)), 0.0
    configurations, velocities = [], []
    for time in times:
        q, v, now = *_advance(dynamics, q, v, time - now, tolerance), time
        configurations.append(q)
        velocities.append(v)
    return Geodesic(times, np.array(configurations).reshape(-1, model.nq),
                    np.array(velocities).reshape(-1, model.nv))


def _advance(dynamics: Dynamics, q: Array, v: Array, span: float, tolerance: float
             ) -> tuple[Array, Array]:
    model = dynamics.model
    if span == 0.0:
        return q, v

    def rate(_: float, state: Array) -> Array:
        x, now = np.split(state, 2)
        here = model.integrate(q, x)
        return np.concatenate([
            chart_rate(model, x, now),
            dynamics.forward(here, now, dynamics.bias(here, np.zeros(model.nv)))])

    from scipy.integrate import solve_ivp  # which takes long to import, and no node needs it
    result = solve_ivp(rate, (0.0, span), np.concatenate([np.zeros(model.nv), v]),
                       method='DOP853', rtol=tolerance, atol=tolerance)
    if not result.success:
        raise ConvergenceError(f'geodesic: expected a motion over {span} s, got: {result.message}')
    x, v = np.split(result.y[:, -1], 2)
    return model.integrate(q, x), v
