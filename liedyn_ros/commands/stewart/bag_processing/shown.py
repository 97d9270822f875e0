# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Processed poses as a page that plays in any browser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from liedyn_ros.commands import outputs
from liedyn_ros.commands.stewart.bag_processing.tracking import platform_of, ProcessedMessage
from liedyn_ros.stewart import leg_lengths
from liedyn_ros.view_state import SolvedPose, ViewInput

SHOWN_STEP_NS = 33_000_000  # between two pictures


class _Page(Protocol):
    """Page that is written when it is closed."""

    def close(self) -> None:
        """Write the page."""


Page = TypeVar('Page', bound=_Page)


@contextmanager
def written(page: Page) -> Iterator[Page]:
    """Yield a page, and write it; after an error it is not, so that an older one stays."""
    yield page
    page.close()


class Shown:
    """Keeps a picture each 33 ms, and writes them as one HTML file at the end."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Take the file and the settings of the platform."""
        self._path = path
        self._geometry, self._home = platform_of(settings)
        self._shown: list[tuple[float, ViewInput]] = []
        self._first_ns = self._due_ns = 0

    def __call__(self, each: ProcessedMessage) -> None:
        """Keep one message's pose, or why there is none, if a picture is due."""
        if each.stamp_ns < self._due_ns:
            return
        self._first_ns = self._first_ns or each.stamp_ns
        self._due_ns = each.stamp_ns + SHOWN_STEP_NS
        pose = each.pose
        if pose is None or not pose.converged:
            seen = ViewInput(fault=each.reason)
        else:
            seen = ViewInput(
                pose=pose.pose,
                covariance=None if each.covariance is None else each.covariance[:3, :3],
                solved=SolvedPose(leg_lengths(self._geometry, pose.pose),
                                  pose.smallest_singular_value, pose.residual, pose.iterations,
                                  0.0, 0.0, pose.branch_source))
        self._shown.append((1e-9 * (each.stamp_ns - self._first_ns), seen))

    def close(self) -> None:
        """Write the file, unless there was nothing."""
        if self._shown:
            outputs.recording(self._path, self._geometry, self._shown, self._home)
