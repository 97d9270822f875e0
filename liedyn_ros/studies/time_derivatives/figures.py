# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The figures of the study of time derivatives: 3 and 4 of Ali et al."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.pictures import BOUND, new_figure, PAGE, save

LINE_STYLES = ('-', '--', ':', '-.')
# Columns of angular parts and moments; of linear parts, forces
BASE_COLUMNS = slice(0, 3), slice(3, 6)
MARK_SPACING = 40  # samples between two marks


def draw_reference(times: Array, motion: Array, found: Array, names: tuple[str, ...], path: Path
                   ) -> None:
    """
    Draw the velocity of the reference and its derivatives (T, n, nv).

    Dots mark found (T, n - 1, nv), the accelerations and derivatives of forward dynamics.
    """
    figure, axes = _panels(motion.shape[1], ('base, angular, rad/s^n', 'base, linear, m/s^n',
                                             'joints, rad/s^n'))
    for k, row in enumerate(axes):
        for ax, part in zip(row, (*BASE_COLUMNS, slice(6, None))):
            for j, line in enumerate(ax.plot(times, motion[:, k, part], linewidth=1.0)):
                line.set_label(names[part][j])
                if k > 0:
                    ax.plot(times[::MARK_SPACING], found[::MARK_SPACING, k - 1, part][:, j], 'o',
                            markersize=2.5, color=line.get_color())
        row[0].set_ylabel(f'n = {k + 1}')
    _finish(figure, axes, path, 'lines: the reference; dots: what forward dynamics gives back')


def draw_forces(times: Array, tau: Array, names: tuple[str, ...], path: Path) -> None:
    """Draw base wrench and joint torques (T, orders, nv) with their derivatives."""
    figure, axes = _panels(tau.shape[1], (
        'moment on the base, N m/s^k', 'force on the base, N/s^k', 'joint torques, N m/s^k'))
    labels = [*(f'm{axis}' for axis in 'xyz'), *(f'f{axis}' for axis in 'xyz'), *names[6:]]
    for row, k in zip(axes, range(tau.shape[1])):
        for ax, part in zip(row, (*BASE_COLUMNS, slice(6, None))):
            for j, line in enumerate(ax.plot(times, tau[:, k, part], linewidth=1.0)):
                line.set_label(labels[part][j])
        row[0].set_ylabel(f'k = {k}')
    _finish(figure, axes, path, 'wrench on the base in its frame, and joint torques')


def draw_errors(times: Array, errors: Array, path: Path) -> None:
    """Draw the errors (T, orders) of the recovered reference."""
    figure = new_figure(70.0)
    ax = figure.subplots()
    for k in range(errors.shape[1]):
        ax.semilogy(times, np.maximum(errors[:, k], 1e-17), LINE_STYLES[k % len(LINE_STYLES)],
                    linewidth=0.9, label=f'order {k}')
    ax.axhline(1e-8, color=BOUND, linestyle='--', label='limit')
    ax.set_xlabel('time, s')
    ax.set_ylabel('error over max(1, force derivative)')
    figure.legend(ncols=4, loc='outside lower center')
    save(figure, path)


def _panels(rows: int, titles: Sequence[str]) -> tuple[Figure, Any]:
    """Return a figure with a row for each order and a column for each title."""
    figure = new_figure(30.0 * rows + 25.0, PAGE)
    axes = figure.subplots(rows, len(titles), sharex=True, squeeze=False)
    for ax, title in zip(axes[0], titles):
        ax.set_title(title)
    return figure, axes


def _finish(figure: Figure, axes: Any, path: Path, title: str) -> None:
    """Name the axes, set the legend of each column under it, and save."""
    for ax in axes[-1]:
        ax.set_xlabel('time, s')
        ax.legend(ncols=2, loc='upper center', bbox_to_anchor=(0.5, -0.45), handlelength=1.0,
                  columnspacing=1.0)
    figure.suptitle(title)
    save(figure, path)
