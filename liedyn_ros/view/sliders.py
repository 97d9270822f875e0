# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Sliders whose numbers a person can read."""

from __future__ import annotations

import math
from typing import Any

from viser import GuiApi

SLIDER_STEP = 1e-3  # of the range, at most; the next power of ten below it is taken
DIGITS = 9  # behind the point, beyond which numbers of steps are rounding errors


def add_slider(gui: GuiApi, name: str, least: float, most: float, value: float) -> Any:
    """Add a slider from least to most, both rounded inwards to its step, near a value."""
    digits = math.ceil(-math.log10(SLIDER_STEP * (most - least)))
    step = 10.0 ** -digits
    low, high = (round(each * step, DIGITS) for each in (
        math.ceil(least / step - SLIDER_STEP), math.floor(most / step + SLIDER_STEP)))
    slider = gui.add_slider(name, low, high, step, low)
    move_slider(slider, value)
    return slider


def value_of(slider: Any) -> float:
    """Return the value that a browser sent, as near to it as the ends allow."""
    return float(min(max(slider.value, slider.min), slider.max))


def move_slider(slider: Any, value: float) -> None:
    """Move a slider as near to a value as its steps and its ends allow."""
    at = round(round(value / slider.step) * slider.step, DIGITS)
    slider.value = min(max(at, slider.min), slider.max)
