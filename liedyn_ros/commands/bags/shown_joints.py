# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rows of joints as a page that plays in any browser."""

from __future__ import annotations

from collections.abc import Sequence
import math
from pathlib import Path

from liedyn_ros.commands import outputs
from liedyn_ros.commands.bags.tables import Cell
from liedyn_ros.commands.stewart.bag_processing.shown import STEP_NS
from liedyn_ros.model import Model
from liedyn_ros.view_state import Description, Seen


class ShownJoints:
    """Keeps a picture each 33 ms, and writes them as one HTML file at the end."""

    def __init__(self, path: Path, columns: Sequence[str], model: Model,
                 description: Description | None) -> None:
        """Take the file, columns such as 'elbow.torque [N m]', and the robot."""
        self._path, self._model, self._description = path, model, description
        self._positions, self._efforts = (
            {each.partition(kind)[0]: k for k, each in enumerate(columns, 1) if kind in each}
            for kind in ('.position [', '.torque ['))
        self._shown: list[tuple[float, Seen]] = []
        self._first_ns = self._due_ns = 0

    def __call__(self, row: Sequence[Cell]) -> None:
        """Keep one row, or why it has no numbers, if a picture is due."""
        stamp = row[0]
        if not isinstance(stamp, int) or stamp < self._due_ns:
            return
        self._first_ns = self._first_ns or stamp
        self._due_ns = stamp + STEP_NS
        seen = Seen(fault=str(row[-1])) if row[1] is None else Seen(
            positions=_numbers(row, self._positions), efforts=_numbers(row, self._efforts))
        self._shown.append((1e-9 * (stamp - self._first_ns), seen))

    def close(self) -> None:
        """Write the file, unless there was nothing."""
        if self._shown:
            outputs.recording(self._path, self._model, self._shown,
                              description=self._description)


def _numbers(row: Sequence[Cell], places: dict[str, int]) -> dict[str, float]:
    return {name: float(value) for name, k in places.items()
            if isinstance(value := row[k], (int, float)) and math.isfinite(value)}
