# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Place the labels of a drawing where they lie on nothing: on no line, no mark, no other label."""

from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.lines import Line2D
import numpy as np

from liedyn_ros.common.checks import Array

Label = tuple[str, Array, dict[str, object]]  # text, point (2,), settings of the text
REACHES = (6.0, 10.0, 15.0, 21.0, 28.0)  # pixels from a point to the nearest edge of its label
DIRECTIONS = [np.array([np.cos(a), np.sin(a)]) for a in np.linspace(0.0, 2.0 * np.pi, 16, False)]
STEP = 2.0  # pixels between the samples of a line


def place_labels(axes: Axes, labels: list[Label]) -> None:
    """
    Write texts beside their points (2,), each where the fewest things lie under it.

    Lines and marks that are drawn already are obstacles, as are labels that are placed before.
    The third of a label are the settings of its text.
    """
    canvas = FigureCanvasAgg(axes.figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    taken = np.vstack([samples(axes.transAxes.transform([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])),
                       *(obstacle(axes, line) for line in axes.get_lines())])
    inverse = axes.transData.inverted()
    for text, point, settings in labels:
        shown = axes.text(*point, text, ha='center', va='center', **settings)
        box = shown.get_window_extent(renderer)
        half, at = np.array([box.width, box.height]) / 2.0 + 1.0, axes.transData.transform(point)
        places = [at + way * (reach + half) for reach in REACHES for way in DIRECTIONS]
        covered = [int(np.sum(np.all(np.abs(taken - place) < half, axis=1))) for place in places]
        best = places[int(np.argmin(covered))]
        shown.set_position(tuple(inverse.transform(best)))
        taken = np.vstack([taken, best + half * grid()])


def obstacle(axes: Axes, line: Line2D) -> Array:
    """Return points that a line and its marks cover, in pixels (n, 2)."""
    path = axes.transData.transform(line.get_xydata())
    if line.get_marker() == 'None':
        return samples(path)
    half = line.get_markersize() * axes.figure.dpi / 144.0
    return np.vstack([samples(path), *(point + half * grid() for point in path)])


def samples(path: Array) -> Array:
    """Return points of a line in pixels (n, 2), each STEP from the next."""
    if len(path) < 2:
        return np.asarray(path)
    return np.vstack([a + np.linspace(0.0, 1.0, 2 + int(np.linalg.norm(b - a) / STEP))[:, None]
                      * (b - a) for a, b in pairwise(path)])


def grid() -> Array:
    """Return points that fill a box of half sizes 1 (n, 2)."""
    return np.stack(np.meshgrid(np.linspace(-1.0, 1.0, 15), np.linspace(-1.0, 1.0, 7)),
                    axis=-1).reshape(-1, 2)
