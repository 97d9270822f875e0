# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The style of all pictures: importing this module sets matplotlib's."""

from typing import Any

from cycler import cycler
import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array

COLUMN_WIDTH_MM, PAGE = 88.0, 180.0  # mm, widths of pictures in a journal of two columns
INCH = 25.4  # mm
EDGE, FITS = 1.0, 5  # mm around a drawing that fills its figure; steps until it does
# Told apart by the colour-blind too (Okabe and Ito); the first six differ in grey.
PALETTE = ('#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#222222', '#8c6d31')
# Ours, what is wrong, what is allowed
RIGHT_COLOR, WRONG_COLOR, BOUND = '#0072b2', '#d00000', '#555555'
RC_STYLE = {
    'font.size': 8.0, 'axes.titlesize': 8.0, 'axes.labelsize': 8.0, 'figure.titlesize': 9.0,
    'xtick.labelsize': 7.0, 'ytick.labelsize': 7.0, 'legend.fontsize': 7.0,
    'legend.frameon': False, 'legend.handlelength': 1.6, 'lines.linewidth': 1.0,
    'lines.markersize': 3.0, 'axes.grid': True, 'grid.alpha': 0.3, 'grid.linewidth': 0.5,
    'axes.linewidth': 0.6, 'axes.spines.top': False, 'axes.spines.right': False,
    'axes.prop_cycle': cycler(color=PALETTE), 'savefig.dpi': 300.0,
    'text.parse_math': False,  # of names of others, where $ is a character
    'pdf.fonttype': 42, 'svg.hashsalt': 'liedyn_ros'}

matplotlib.use('Agg')
matplotlib.rcParams.update(RC_STYLE)


def new_figure(
        height: float, width: float = COLUMN_WIDTH_MM, below: float = 0.0,
        right: float = 0.0) -> Figure:
    """
    Begin an empty figure whose parts do not overlap.

        >>> axes = new_figure(60.0, PAGE).add_subplot()

    Args:
        height: Of the figure, mm.
        width: Of the figure, mm; COLUMN_WIDTH_MM or PAGE in a journal.
        below: Free space at the bottom, mm.
        right: Free space at the right, mm.

    Returns:
        The figure.
    """
    free = below / height
    return Figure(
        figsize=(width / INCH, height / INCH),
        layout=ConstrainedLayoutEngine(rect=(0.0, free, 1.0 - right / width, 1.0 - free)))


def fill(axes: Any, above: float = 0.0) -> None:
    """
    Make a drawing in space, its labels included, as large as its figure.

        >>> fill(axes, above=6.0)

    Args:
        axes: Three-dimensional axes of matplotlib, alone in their figure.
        above: Free space at the top, mm.
    """
    figure = axes.figure
    figure.set_layout_engine('none')
    title = axes.get_title()
    axes.set_title('')
    width, height = figure.get_size_inches() * INCH
    free = np.array([1.0 - 2.0 * EDGE / width, 1.0 - (2.0 * EDGE + above) / height])
    middle = np.array([0.5, 0.5 - 0.5 * above / height])
    for _ in range(FITS):  # labels keep their size
        low, high = ink(figure)
        place = axes.get_position(original=True)
        scale = (free / (high - low)).min()
        offset = 0.5 * (place.min + place.max) - 0.5 * (low + high)
        axes.set_position((*(middle + scale * offset - 0.5 * scale * place.size),
                           *(scale * place.size)))
    if title:
        figure.suptitle(title, fontsize=RC_STYLE['axes.titlesize'])


def ink(figure: Figure) -> Array:
    """Return where a drawn figure is not white (least, greatest), each of x and y in 0 to 1."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    drawn: NDArray[np.bool_] = np.any(
        np.asarray(canvas.buffer_rgba())[::-1, :, :3] < 255, axis=2)
    ends = [np.flatnonzero(drawn.any(axis=axis))[[0, -1]] for axis in (0, 1)]
    return np.array((np.transpose(ends) + ((0, 0), (1, 1))) / drawn.shape[::-1])


def legend_beside(axes: Axes, **options: Any) -> None:
    """
    Put the legend to the right of the axes, where it lies on nothing.

        >>> legend_beside(axes, title='leg')

    Args:
        axes: Whose lines have labels.
        options: Of matplotlib's legend.
    """
    axes.legend(**{'loc': 'center left', 'bbox_to_anchor': (1.0, 0.5), **options})


def legend_above(axes: Axes, columns: int, **options: Any) -> None:
    """
    Put the legend in one block above the axes, where it lies on nothing.

        >>> legend_above(axes, columns=3)

    Args:
        axes: Whose lines have labels.
        columns: Of the legend.
        options: Of matplotlib's legend.
    """
    axes.legend(**{'loc': 'lower left', 'bbox_to_anchor': (0.0, 1.0), 'ncols': columns,
                   'columnspacing': 1.0, 'borderaxespad': 0.2, **options})
