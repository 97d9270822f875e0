# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Plots of the last minute beside the scene."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from viser import GuiApi, uplot

from liedyn_ros.common.checks import Array

RATE = 4.0  # Hz, of new plots
COLOR = '#1f6fdc'


class Plots:
    """One plot for each number, over the time that is kept."""

    def __init__(self, gui: GuiApi, titles: tuple[str, ...], seconds: float) -> None:
        """Make them, empty. titles: with units."""
        self._seconds, self._titles = seconds, titles
        self._rows: deque[tuple[float, ...]] = deque()
        self._drawn = 0.0
        self._handles: list[Any] = [gui.add_uplot(
            (np.zeros(2), np.zeros(2)), (
                uplot.Series(label='s ago'), uplot.Series(label=title, stroke=COLOR, width=1)),
            title=title, scales={'x': uplot.Scale(time=False)}, height=130) for title in titles]

    def add(self, now: float, values: tuple[float, ...]) -> None:
        """Add the values of a time, s."""
        self._rows.append((now, *values))
        while self._rows[0][0] < now - self._seconds:
            self._rows.popleft()
        if now - self._drawn < 1.0 / RATE or len(self._rows) < 2:
            return
        self._drawn = now
        columns = self.columns(now)
        for handle, column in zip(self._handles, columns[1:]):
            handle.data = (columns[0], np.ascontiguousarray(column))

    def columns(self, now: float) -> Array:
        """Return the rows of what is drawn: time, s, 0 for now, and one of each number."""
        columns: Array = np.array(self._rows).T.copy()
        columns[0] -= now
        return columns
