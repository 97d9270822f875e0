# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Consistency: the ten numbers that a rigid body can have, and the nearest ones to others."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_positive, as_trailing

_MOMENTS = ([4, 5, 6], [5, 7, 8], [6, 8, 9])
_ROUNDING = 1e-12  # of the largest entry


def pseudo_inertia(parameters: ArrayLike) -> Array:
    """
    Return the matrix Pi of parameters (13.51).

    It is the integral of (x, 1) (x, 1)^T over the mass, in the body frame.

    Args:
        parameters: (..., 10), as SpatialInertia.parameters has them; kg, kg m, kg m^2.

    Returns:
        Pi (..., 4, 4): second moments (kg m^2), first moments (kg m) and mass (kg).

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> pseudo_inertia([2.0] + [0.0] * 9)[3, 3].item()
    2.0
    """
    pi = as_trailing('parameters', parameters, (10,))
    moments = pi[..., _MOMENTS]
    result = np.empty((*pi.shape[:-1], 4, 4))
    half_trace = 0.5 * np.trace(moments, axis1=-2, axis2=-1)
    result[..., :3, :3] = half_trace[..., None, None] * np.eye(3) - moments
    result[..., :3, 3] = result[..., 3, :3] = pi[..., 1:4]
    result[..., 3, 3] = pi[..., 0]
    return result


def parameters_of(pseudo: ArrayLike) -> Array:
    """Return the ten parameters (..., 10) of Pi (..., 4, 4), pseudo_inertia undone."""
    pseudo = as_trailing('pseudo', pseudo, (4, 4))
    second = pseudo[..., :3, :3]
    trace = np.trace(second, axis1=-2, axis2=-1)
    moments = trace[..., None, None] * np.eye(3) - second
    return np.concatenate([
        pseudo[..., 3, 3:], pseudo[..., :3, 3],
        moments[..., [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]], axis=-1)


def is_consistent(parameters: ArrayLike) -> bool:
    """
    Return whether some distribution of mass has these parameters.

    That is so if Pi has no negative eigenvalue. Then neither the mass nor a principal moment of
    inertia is negative, and no principal moment exceeds the sum of the others. Flat bodies, rods
    and points count.

    Args:
        parameters: (10,), as SpatialInertia.parameters has them; kg, kg m, kg m^2.

    Returns:
        whether some body has them.

    Raises:
        LiedynError: for another shape, or a number that is not finite.

    >>> is_consistent([1.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.1, 0.0, 0.5])
    False
    """
    pseudo = pseudo_inertia(as_array('parameters', parameters, (10,)))
    return bool(np.linalg.eigvalsh(pseudo)[0] >= -_ROUNDING * np.abs(pseudo).max())


def nearest_consistent(parameters: ArrayLike, length: float = 1.0) -> Array:
    """
    Return the nearest parameters that a body can have (13.52).

    Nearest in the Frobenius norm of Pi: negative eigenvalues become zero. Mass and centre of mass
    may change. Consistent parameters stay the same, except for rounding.

    Args:
        parameters: (10,), as SpatialInertia.parameters has them; kg, kg m, kg m^2.
        length: such as the body's size, which makes kg, kg m and kg m^2 comparable; m.

    Returns:
        (10,).

    Raises:
        LimitError: for a length that is not above 0.
        LiedynError: for another shape, or a number that is not finite.

    >>> nearest_consistent([1.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.1, 0.0, 0.5]).round(3)
    array([1.  , 0.  , 0.  , 0.  , 0.25, 0.  , 0.  , 0.25, 0.  , 0.5 ])
    """
    scale = np.array([1.0 / as_positive('length', length)] * 3 + [1.0])
    pseudo = pseudo_inertia(as_array('parameters', parameters, (10,)))
    values, vectors = np.linalg.eigh(pseudo * np.outer(scale, scale))
    cut = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return parameters_of(cut / np.outer(scale, scale))
