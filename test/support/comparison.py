# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How near two results must be."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def assert_same(
        got: ArrayLike, wanted: ArrayLike, tolerance: float = 1e-9, floor: float = 0.0) -> None:
    """
    Require every entry to be within a tolerance of the largest entry of what is wanted.

    Where that entry is smaller than the floor, the tolerance is of the floor: for quantities
    that may vanish. Empty arrays are the same.
    """
    largest = np.abs(wanted).max(initial=floor)
    if _within(np.asarray(got), np.asarray(wanted), tolerance * largest):
        return
    np.testing.assert_allclose(got, wanted, rtol=0.0, atol=tolerance * largest)


def _within(got: NDArray[Any], wanted: NDArray[Any], bound: Any) -> bool:
    """Return whether floats of one shape are near; numpy's way to say how far takes longer."""
    return (got.shape == wanted.shape and got.dtype.kind == wanted.dtype.kind == 'f'
            and bound < math.inf and bool((np.abs(got - wanted) <= bound).all()))
