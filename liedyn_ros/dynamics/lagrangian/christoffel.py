# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Christoffel symbols of the mass metric, and products of adjoints along a chain (Park).

The metric is M(q), the kinetic energy v^T M v / 2. The symbols of the first kind are
Gamma_ijk = <nabla_{E_i} E_j, E_k>: i differentiates, and k is the lowered index. At spherical and
free joints E_i are the tangents of the retraction, which do not commute: there
Gamma_ijk - Gamma_jik = C_ijk, the lowered structure constants (13.41).

Products of adjoints along a chain of screws, and their derivatives (Park, Proposition 2).
Ad_j^i(x) = Ad(exp(-A_j x_j) ... exp(-A_i x_i)) for i <= j, the identity for i > j. The mass matrix
is made of them, and all its derivatives follow from theirs. Places count from 0; screws (n, 6) are
home screws in the ground and x (n,) their coordinates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.dynamics.tree.screw_tree import dual_bracket, ScrewTree
from liedyn_ros.lie import se3
from liedyn_ros.model import Model


def christoffel_symbols(model: Model, q: ArrayLike) -> Array:
    """
    Return the Christoffel symbols for joints of every type (13.42).

    They are zero unless the three coordinates stand on one path. For joints that are chains of
    links of one degree of freedom they are the three cases (6.11) to (6.13) (Park 55 to 57).

    Args:
        model: a Model.
        q: configuration (nq,); rad and m.

    Returns:
        Gamma_ijk (nv, nv, nv).

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> christoffel_symbols(model, q).shape
    (6, 6, 6)
    """
    tree = ScrewTree(model, q)
    result = np.zeros((model.nv,) * 3)
    for m in range(model.link_table.N):
        path = tree.path(m)
        screws = tree.screws[path]
        own = tree.link[path] == m
        momenta = screws @ tree.composites[m]
        at = path[:, None], path
        derivative = tree.screw_derivatives[at] @ momenta.T  # <H_ij, s_k>
        bracket = tree.brackets[at] @ momenta.T  # <[s_i, s_j], s_k>
        deepest = own[:, None, None] | own[:, None] | own
        result[path[:, None, None], path[:, None], path] += deepest * combine(derivative, bracket)
    return result


def combine(derivative: Array, bracket: Array) -> Array:
    """
    Return Gamma (..., d, d, d) (13.42).

    derivative holds <H_ij, s_k>, bracket <[s_i, s_j], s_k>, or both their derivatives.
    """
    return derivative - 0.5 * (bracket + np.swapaxes(bracket, -1, -2)
                               + np.moveaxis(bracket, -1, -3))


def levi_civita_coriolis(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """
    Return the Coriolis matrix of the Levi-Civita connection (13.43).

    It is C_kj = sum_i Gamma_ijk v_i, for joints of every type. C v are the Coriolis and
    centrifugal forces and dM/dt = C + C^T, as with the admissible matrix of
    Dynamics.coriolis_matrix. The two belong to different connections, and this one has no torsion.
    So dtau/dv is 2 C where no joint is spherical or free, and 2 C - M A in general.

    Args:
        model: a Model.
        q: configuration (nq,); rad and m.
        v: velocity (nv,); rad/s and m/s.

    Returns:
        C (nv, nv).

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> c = levi_civita_coriolis(model, q, v)
    >>> np.allclose(c @ v, robot.coriolis_matrix(q, v) @ v)
    True
    """
    tree, v = ScrewTree(model, q), as_array('v', v, (model.nv,))
    columns = tree.screws.T
    rates = tree.series(v[None])[0][1].T
    result = np.zeros((model.nv, model.nv))
    for moves, inertia in zip(tree.moves, tree.inertias):
        jacobian, rate = columns * moves, rates * moves
        twist = se3.ad(jacobian @ v)
        momentum = inertia @ jacobian @ v
        # B = -(I ad_V + ad_V^T I + N(I V)), N(h) P = ad_P^T h (13.9). In the ground frame the
        # columns X_ij DS_j are the rates of the spatial screws.
        half = -0.5 * (inertia @ twist + twist.T @ inertia + dual_bracket(momentum))
        result += jacobian.T @ (inertia @ rate + half @ jacobian)
    return result


def adjoint_product(screws: ArrayLike, x: ArrayLike, j: int, i: int) -> Array:
    """
    Return the adjoint product Ad_j^i of screws (Park 37).

    Args:
        screws: (n, 6).
        x: coordinates (n,).
        j: last place.
        i: first place.

    Returns:
        (6, 6).

    Raises:
        LimitError: for a place that is none.
        LiedynError: for another shape, or a number that is not finite.

    >>> np.array_equal(adjoint_product(np.eye(2, 6), [0.0, 0.0], 1, 0), np.eye(6))
    True
    """
    screws, x = _checked(screws, x, j, i)
    result = np.eye(6)
    for k in range(i, j + 1):
        result = se3.adjoint(se3.exp(-x[k] * screws[k])) @ result
    return result


def adjoint_product_derivative(screws: ArrayLike, x: ArrayLike, j: int, i: int, k: int) -> Array:
    """
    Return the derivative of Ad_j^i by x_k: B -> Ad_j^k [Ad_{k-1}^i B, A_k] (Park 53).

    Args:
        screws: (n, 6).
        x: coordinates (n,).
        j: last place.
        i: first place.
        k: place of the coordinate.

    Returns:
        (6, 6).

    Raises:
        LimitError: for a place that is none.
        LiedynError: for another shape, or a number that is not finite.

    >>> adjoint_product_derivative(np.eye(2, 6), [0.0, 0.0], 1, 0, 1).shape
    (6, 6)
    """
    screws, x = _checked(screws, x, j, i, k)
    if not i <= k <= j:
        return np.zeros((6, 6))
    return (adjoint_product(screws, x, j, k) @ -se3.ad(screws[k])
            @ adjoint_product(screws, x, k - 1, i))


def adjoint_product_second_derivative(
        screws: ArrayLike, x: ArrayLike, j: int, i: int, k: int, other: int) -> Array:
    """
    Return the derivative of Ad_j^i by x_k and x_other.

    With a the smaller and b the larger place it is B -> Ad_j^b [Ad_{b-1}^a [Ad_{a-1}^i B, A_a],
    A_b]. The inner bracket has the smaller place. (Park 54) prints it the other way round.

    Args:
        screws: (n, 6).
        x: coordinates (n,).
        j: last place.
        i: first place.
        k: place of a coordinate.
        other: place of the other one.

    Returns:
        (6, 6).

    Raises:
        LimitError: for a place that is none.
        LiedynError: for another shape, or a number that is not finite.

    >>> adjoint_product_second_derivative(np.eye(2, 6), [0.0, 0.0], 1, 0, 1, 0).shape
    (6, 6)
    """
    screws, x = _checked(screws, x, j, i, k, other)
    a, b = min(k, other), max(k, other)
    if not (i <= a and b <= j):
        return np.zeros((6, 6))
    return (adjoint_product(screws, x, j, b) @ se3.ad(screws[b])
            @ adjoint_product(screws, x, b - 1, a) @ se3.ad(screws[a])
            @ adjoint_product(screws, x, a - 1, i))


def _checked(screws: ArrayLike, x: ArrayLike, *places: int) -> tuple[Array, Array]:
    screws = as_array('screws', screws, (-1, 6))
    x = as_array('x', x, (len(screws),))
    for place in places:
        if not -1 <= place < len(x):
            raise LimitError(f'place: expected at most {len(x) - 1}, got {place}')
    return screws, x
