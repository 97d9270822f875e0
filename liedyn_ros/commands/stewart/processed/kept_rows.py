# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Processed messages, kept on disk as a few arrays: objects one by one take a multiple of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from liedyn_ros.commands.stewart.processed.tracking import Processed, Reported, Solved
from liedyn_ros.common.checks import Array
from liedyn_ros.stewart import Status


class KeptRows(list[Processed]):
    """A list of what `Processed.slim` returns, pickled by columns."""

    def __reduce__(self) -> tuple[Callable[..., KeptRows], tuple[Any, ...]]:
        """Return how the list is made of its columns."""
        solved = [each.pose for each in self if each.pose is not None]
        return _rows, (
            np.array([each.stamp_ns for each in self], dtype=np.int64),
            [each.reason for each in self], np.array([each.pose is not None for each in self]),
            np.array([each.pose for each in solved]).reshape(-1, 4, 4),
            *_some([each.twist for each in solved], (6,)),
            [(int(each.status), each.flags, each.iterations, each.residual,
              each.smallest_singular_value) for each in solved],
            *_some([each.covariance for each in self], (6, 6)), [each.reported for each in self])


def _some(values: list[Array | None], shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Return which values are there (n,), and these (k, *shape)."""
    return np.array([each is not None for each in values], dtype=bool), np.array(
        [each for each in values if each is not None]).reshape(-1, *shape)


def _all(there: Array, values: Array) -> list[Array | None]:
    """Return the values of _some."""
    left = iter(values)
    return [next(left) if each else None for each in there.tolist()]


def _rows(stamps: Array, reasons: list[str], with_pose: Array, poses: Array, with_twist: Array,
          twists: Array, numbers: list[tuple[Any, ...]], with_covariance: Array,
          covariances: Array, reported: list[Reported]) -> KeptRows:
    """Return the list that was pickled."""
    solved = iter([Solved(pose, twist, Status(status), *others) for pose, twist, (
        status, *others) in zip(poses, _all(with_twist, twists), numbers)])
    return KeptRows([
        Processed(stamp, next(solved) if there else None, covariance, reason, given)
        for stamp, there, covariance, reason, given in zip(
            stamps.tolist(), with_pose.tolist(), _all(with_covariance, covariances), reasons,
            reported)])
