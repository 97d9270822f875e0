# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Figures 4 to 9 of the Stewart paper, drawn from runs of this package."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
import numpy as np

from liedyn_ros.pictures import draw_platform, fill, new_figure, PAGE, save, share_scale
from liedyn_ros.studies.stewart_pose.paper import (
    Cell, End, PAPER_STATES, PAPER_TABLES, pose_of, Study, Table, UNEXPLAINED_CELLS)

# Of the three methods: markers within markers, as points often lie on each other.
METHOD_STYLES: tuple[dict[str, Any], ...] = tuple(
    {'color': color, 'linestyle': style, 'markersize': size, 'markerfacecolor': face}
    for color, style, size, face in (
        ('tab:blue', '-', 8.0, 'none'), ('tab:orange', '--', 5.0, 'tab:orange'),
        ('black', ':', 2.6, 'black')))
MARKERS = {End.TRUE_POSE: 'o', End.BRANCH: 'v', End.ELSEWHERE: 's', End.NOWHERE: 'x'}
MEANINGS = {End.TRUE_POSE: 'true pose (above zero)', End.BRANCH: 'branch solution (below zero)',
            End.ELSEWHERE: 'another pose (below zero)', End.NOWHERE: 'no convergence (on zero)'}
MARKER_OFFSET = 0.15  # of the parameter's step: offset between markers at the same place

Cells = dict[tuple[str, int], Cell]  # by method and state
PICTURE_HEIGHT = 78.0  # mm, a picture of a platform


def draw(study: Study, cells: Cells, folder: Path) -> None:
    """Write figure_4 to figure_9."""
    save(states(study), folder / 'figure_4.png')
    save(branch(study), folder / 'figure_5.png')
    for number, table, shown in ((6, PAPER_TABLES[0], (0, 1, 2)), (7, PAPER_TABLES[0], (3, 4)),
                                 (8, PAPER_TABLES[1], (0, 1, 2)), (9, PAPER_TABLES[1], (3, 4))):
        save(comparison(number, table, cells, shown), folder / f'figure_{number}.png')


def states(study: Study) -> Figure:
    """Return Figure 4: the true state and the five initial ones."""
    figure = new_figure(130.0, PAGE, below=5.0, right=5.0)  # space for labels of axes in space
    poses = [study.true_pose, *(pose_of(*state) for state in PAPER_STATES)]
    titles = ['true state', *(f'state {k + 1}' for k in range(len(PAPER_STATES)))]
    for k, (pose, title) in enumerate(zip(poses, titles)):
        axes = figure.add_subplot(2, 3, k + 1, projection='3d')
        draw_platform(axes, study.geometry, pose, f'({"abcdef"[k]}) {title}')
    share_scale(figure.axes)
    figure.suptitle('Figure 4: true state and initial states')
    return figure


def branch(study: Study) -> Figure:
    """Return Figure 5: the branch solution."""
    figure = new_figure(PICTURE_HEIGHT)
    axes = figure.add_subplot(projection='3d')
    draw_platform(axes, study.geometry, study.branch,
                  'Figure 5: the branch solution qS1 or qS2')
    fill(axes, above=5.0)
    return figure


def comparison(number: int, table: Table, cells: Cells, shown: Sequence[int]) -> Figure:
    """Return iterations against the parameter for some of the states."""
    figure = new_figure(54.0 * len(shown) + 22.0, PAGE)
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for axes, state in zip(panels, shown):
        for k, method in enumerate(table.methods):
            plot_cell(axes, table, cells[method, state], METHOD_STYLES[k], k - 1)
        axes.axhline(0.0, color='0.6', linewidth=0.8)
        axes.set_yscale('symlog', linthresh=10.0)
        axes.set_ylim(-250.0, 250.0)
        axes.set_yticks([-200, -50, -10, 0, 10, 50, 200], [200, 50, 10, 0, 10, 50, 200])
        axes.set_ylabel(f'state {state + 1}: iterations')
        axes.set_title(percentages(table, cells, state))
    panels[-1].set_xlabel(table.parameter)
    handles = [Line2D([], [], label=method, marker='o', color=style['color'],
                      linestyle=style['linestyle'], markersize=style['markersize'],
                      markerfacecolor=style['markerfacecolor'])
               for style, method in zip(METHOD_STYLES, table.methods)]
    handles += [Line2D([], [], color='0.3', marker=MARKERS[end], linestyle='', label=MEANINGS[end])
                for end in MARKERS]
    figure.legend(handles=handles, ncols=4, loc='outside lower center')
    figure.suptitle(f'Figure {number}: {table.title.partition(": ")[2]}, '
                    f'states {", ".join(str(state + 1) for state in shown)}')
    return figure


def percentages(table: Table, cells: Cells, state: int) -> str:
    """Return how many solves reached the true pose, and how many are published."""
    parts = []
    for method, published in zip(table.methods, table.published[state]):
        star = '*' if (method, state) in UNEXPLAINED_CELLS else ''
        parts.append(f'{method} {cells[method, state].percentage:.0f} % '
                     f'({published:.0f} %){star}')
    end = '\n* no reading of the paper gives this' if '*' in ''.join(parts) else ''
    return 'to the true pose (published): ' + ', '.join(parts) + end


def plot_cell(axes: Axes, table: Table, cell: Cell, style: dict[str, Any], place: int) -> None:
    """Plot the iterations of one cell, with the sign that says where they led."""
    sign = np.select([cell.ends == End.TRUE_POSE, cell.ends == End.NOWHERE], [1, 0], -1)
    x, y = table.axis, sign * cell.iterations
    for side in (1, -1):
        axes.plot(x, np.where(sign == side, y, np.nan), color=style['color'],
                  linestyle=style['linestyle'], linewidth=0.8)
    for end, marker in MARKERS.items():
        at = cell.ends == end
        shift = MARKER_OFFSET * place * (x[1] - x[0]) if end == End.NOWHERE else 0.0
        axes.plot(x[at] + shift, y[at], marker, **{**style, 'linestyle': 'None'})
