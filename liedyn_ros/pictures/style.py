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
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

COLUMN, PAGE = 88.0, 180.0  # mm, widths of pictures in a journal of two columns
INCH = 25.4  # mm
# Told apart by the colour-blind too (Okabe and Ito); the first six differ in grey.
PALETTE = ('#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#222222', '#8c6d31')
RIGHT, WRONG, BOUND = '#0072b2', '#d00000', '#555555'  # ours, what is wrong, what is allowed
STYLE = {
    'font.size': 8.0, 'axes.titlesize': 8.0, 'axes.labelsize': 8.0, 'figure.titlesize': 9.0,
    'xtick.labelsize': 7.0, 'ytick.labelsize': 7.0, 'legend.fontsize': 7.0,
    'legend.frameon': False, 'legend.handlelength': 1.6, 'lines.linewidth': 1.0,
    'lines.markersize': 3.0, 'axes.grid': True, 'grid.alpha': 0.3, 'grid.linewidth': 0.5,
    'axes.linewidth': 0.6, 'axes.spines.top': False, 'axes.spines.right': False,
    'axes.prop_cycle': cycler(color=PALETTE), 'savefig.dpi': 300.0,
    'pdf.fonttype': 42, 'svg.hashsalt': 'liedyn_ros'}

matplotlib.use('Agg')
matplotlib.rcParams.update(STYLE)


def new_figure(
        height: float, width: float = COLUMN, below: float = 0.0, right: float = 0.0) -> Figure:
    """Return an empty figure whose parts do not overlap; mm. below, right: left free there."""
    free = below / height
    return Figure(
        figsize=(width / INCH, height / INCH),
        layout=ConstrainedLayoutEngine(rect=(0.0, free, 1.0 - right / width, 1.0 - free)))


def legend_beside(axes: Axes, **options: Any) -> None:
    """Put the legend to the right of the axes, where it lies on nothing."""
    axes.legend(**{'loc': 'center left', 'bbox_to_anchor': (1.0, 0.5), **options})


def legend_above(axes: Axes, columns: int, **options: Any) -> None:
    """Put the legend in one block above the axes, where it lies on nothing."""
    axes.legend(**{'loc': 'lower left', 'bbox_to_anchor': (0.0, 1.0), 'ncols': columns,
                   'borderaxespad': 0.2, **options})
