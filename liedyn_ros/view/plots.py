# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Plots of the last minute beside the scene, and sliders whose numbers a person can read."""

from __future__ import annotations

from collections import deque
import math
from typing import Any

import numpy as np
from viser import GuiApi, uplot

from liedyn_ros.common.checks import Array

PLOT_RATE = 4.0  # Hz, of new plots
COLOR = '#1f6fdc'
SLIDER_STEP = 1e-3  # of the range, at most; the next power of ten below it is taken
SHOWN_DIGITS = 9  # behind the point, beyond which numbers of steps are rounding errors
PREFIXES = ('', 'm', 'µ', 'n', 'p', 'f')  # a thousandth of the one before


class Plots:
    """One plot for each number, over the time that is kept."""

    def __init__(self, gui: GuiApi, numbers: tuple[tuple[str, str], ...], seconds: float) -> None:
        """Make empty plots. numbers: name and unit of each, without a unit '-' or ''."""
        self._seconds, self._numbers = seconds, numbers
        self._rows: deque[tuple[float, ...]] = deque()
        self._drawn = 0.0
        # Of given bounds: a plot that is built again kept those of its first, empty picture.
        times = uplot.Scale(time=False, range=(-seconds, 0.0))
        self._handles: list[Any] = [gui.add_uplot(
            (np.zeros(2), np.zeros(2)), _series(title), title=title,
            scales={'x': times}, height=130)
            for title in (_title(name, unit) for name, unit in numbers)]

    def add(self, now: float, values: tuple[float, ...]) -> None:
        """Add the values of a time, s, each in its unit."""
        self._rows.append((now, *values))
        while self._rows[0][0] < now - self._seconds:
            self._rows.popleft()
        if now - self._drawn < 1.0 / PLOT_RATE or len(self._rows) < 2:
            return
        self._drawn = now
        columns = self.columns(now)
        for handle, (name, unit), column in zip(self._handles, self._numbers, columns[1:]):
            drawn, prefixed = fitted(column, unit)
            title = _title(name, prefixed)
            if handle.title != title:  # a new title makes the browser build the plot again
                handle.title, handle.series = title, _series(title)
            handle.data = (columns[0], drawn)

    def columns(self, now: float) -> Array:
        """Return the rows of what is drawn: time, s, 0 for now, and one of each number."""
        columns: Array = np.array(self._rows).T.copy()
        columns[0] -= now
        return columns


def fitted(values: Array, unit: str) -> tuple[Array, str]:
    """
    Return values (n,) and their unit with the prefix by which the largest is 1 or more.

    The axis of a plot has three digits behind the point. Numbers without a unit stay as they are.
    """
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    if unit in ('', '-') or largest == 0.0:
        return np.array(values), unit
    power = int(np.clip(np.ceil(-np.log10(largest) / 3.0), 0, len(PREFIXES) - 1))
    return values * 1e3 ** power, PREFIXES[power] + unit


def _title(name: str, unit: str) -> str:
    return f'{name} [{unit}]' if unit else name


def _series(title: str) -> tuple[uplot.Series, ...]:
    return (uplot.Series(label='s ago'), uplot.Series(label=title, stroke=COLOR, width=1))


def add_slider(gui: GuiApi, name: str, least: float, most: float, value: float) -> Any:
    """Add a slider from least to most, both rounded inwards to its step, near a value."""
    digits = math.ceil(-math.log10(SLIDER_STEP * (most - least)))
    step = 10.0 ** -digits
    low, high = (round(each * step, SHOWN_DIGITS) for each in (
        math.ceil(least / step - SLIDER_STEP), math.floor(most / step + SLIDER_STEP)))
    slider = gui.add_slider(name, low, high, step, low)
    move_slider(slider, value)
    return slider


def value_of(slider: Any) -> float:
    """Return the value that a browser sent, as near to it as the ends allow."""
    return float(min(max(slider.value, slider.min), slider.max))


def move_slider(slider: Any, value: float) -> None:
    """Move a slider as near to a value as its steps and its ends allow."""
    at = round(round(value / slider.step) * slider.step, SHOWN_DIGITS)
    slider.value = min(max(at, slider.min), slider.max)
