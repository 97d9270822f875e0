# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A retimed run: its phase plane, efforts and rates beside limits, and where the time goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.pictures import BOUND, legend_above, new_figure, PAGE, RIGHT_COLOR, save
from liedyn_ros.retiming import Retimed, RetimedSamples
from liedyn_ros.retiming.result import phase_plane

DRAWN_SAMPLES = 1001
HEIGHT, LEGEND_ROW = 118.0, 3.5  # mm, of the picture without legends, and of each row of these
LEGEND_WIDTH, LEGEND_LINE = 58, 6  # characters: half a page, and a line beside its name
MAX_DRAWN_LINES, MAX_BARS = 12, 8
DRAWN_QUANTITIES = {'torque': 'effort', 'torque_rate': 'rate of effort', 'velocity': 'velocity',
                    'acceleration': 'acceleration', 'jerk': 'jerk'}
RUN_FIELDS = {'torque': 'torque', 'torque_rate': 'torque_rate', 'velocity': 'v',
              'acceleration': 'a', 'jerk': 'jerk'}


def draw(run: Retimed, path: Path) -> None:
    """Draw a run to a file, as PDF too, and the numbers beside it."""
    names = run.dynamics.model.coordinate_names
    rows = -(-min(len(names), MAX_DRAWN_LINES) // legend_columns(names))
    figure = new_figure(HEIGHT + LEGEND_ROW * rows, PAGE)
    panels = figure.subplots(2, 2).ravel()
    at = run.at(np.linspace(0.0, run.duration, DRAWN_SAMPLES))
    draw_phase_plane(panels[0], run)
    draw_time(panels[1], run)
    limits = run.limits.of(run.dynamics.model)
    shown = [name for name in DRAWN_QUANTITIES if np.isfinite(limits[name]).any()]
    first = 'torque' if 'torque' in shown or not shown else shown[0]
    second = next((name for name in ('torque_rate', 'jerk', 'acceleration', 'velocity')
                   if name in shown and name != first), 'torque_rate')
    for axes, name in zip(panels[2:], (first, second)):
        draw_quantity(axes, run, at, name, limits[name])
    figure.suptitle(f'{run.dynamics.model.name}: {run.duration:.4g} s')
    save(figure, path)


def legend_columns(names: Sequence[str]) -> int:
    """Return how many columns of names half a page holds, 1 to 4."""
    return min(max(LEGEND_WIDTH // (max(map(len, names)) + LEGEND_LINE), 1), 4)


def draw_phase_plane(axes: Axes, run: Retimed) -> None:
    """Draw the speed along the path, beside the highest that limits leave there."""
    plane = phase_plane(run)
    axes.fill_between(plane.s, plane.limit, 1e3 * plane.speed.max(), color='0.88')
    axes.plot(plane.s, plane.speed, color=RIGHT_COLOR, label='run')
    axes.plot(plane.s, plane.limit, color=BOUND, label='most that limits allow')
    axes.set(xlabel='s, along the path', ylabel='speed along the path ds/dt',
             xlim=(plane.s[0], plane.s[-1]), ylim=(0.0, 1.6 * plane.speed.max()))
    legend_above(axes, 2)


def draw_time(axes: Axes, run: Retimed) -> None:
    """Draw how long each limit is the one that is used most."""
    seconds: dict[str, float] = {}
    for (limit, name), time in zip(run.binding, np.diff(run.interval_times)):
        key = f'{DRAWN_QUANTITIES.get(limit, limit)}, {name}'
        seconds[key] = seconds.get(key, 0.0) + float(time)
    listed = sorted(seconds.items(), key=lambda each: each[1])[-MAX_BARS:]
    for name, time in listed:
        bar = axes.barh(name, time, color=RIGHT_COLOR, label=name)
        axes.bar_label(bar, [f'{time:.3g} s'], fontsize=7, padding=3)
    axes.margins(x=0.2)
    axes.grid(visible=False, axis='y')
    axes.set(xlabel='time at the limit used most, s')


def draw_quantity(axes: Axes, run: Retimed, at: RetimedSamples, name: str,
                  limits: Array) -> None:
    """Draw a quantity of all coordinates over time, in parts of its limit where it has one."""
    values: Array = getattr(at, RUN_FIELDS[name])
    limited = np.flatnonzero(np.isfinite(limits))
    names = run.dynamics.model.coordinate_names
    drawn = limited if len(limited) else np.flatnonzero(run.dynamics.model.actuated)
    most = np.abs(values).max(axis=0) / np.where(np.isfinite(limits), limits, 1.0)
    for k in sorted(drawn[np.argsort(-most[drawn])][:MAX_DRAWN_LINES]):
        axes.plot(at.t, values[:, k] / (limits[k] if len(limited) else 1.0), label=names[k])
    if len(limited):
        for bound in (-1.0, 1.0):
            axes.axhline(bound, color=BOUND, linestyle='--')
    what = DRAWN_QUANTITIES[name]
    axes.set(xlabel='time, s', xlim=(0.0, run.duration),
             ylabel=f'{what} / limit' if len(limited) else f'{what}, SI units, not limited')
    legend_above(axes, legend_columns(names))
