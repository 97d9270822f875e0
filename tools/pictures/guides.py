# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Draw the pictures of docs/guides from the guides' own snippets: python -m tools.pictures.guides.

A picture repeats a simulation of its page, with the objects that its snippets have made.
"""

from collections.abc import Callable
import contextlib
import io
from pathlib import Path
import re
from typing import Any

import numpy as np
from tools.command_line import no_arguments

from liedyn_ros.commands.retiming.drawings import picture
from liedyn_ros.dynamics import runge_kutta_munthe_kaas
from liedyn_ros.pictures import (
    BOUND, legend_above, new_figure, PAGE, RIGHT_COLOR, save, WRONG_COLOR)

DOCS = Path(__file__).parents[2] / 'docs'
IMAGES = DOCS / 'images'
SNIPPET = re.compile(r'```python\n(.*?)```', re.DOTALL)
Curves = dict[str, list[float]]
STEPS = 3000  # of 1 ms
LARGER = 100.0  # corrections of joints, as drawn


def scope_of(page: str) -> dict[str, Any]:
    """Return the names that the snippets of a page define."""
    scope: dict[str, Any] = {}
    code = ''.join(SNIPPET.findall((DOCS / 'guides' / page).read_text(encoding='utf-8')))
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, page, 'exec'), scope)
    return scope


def errors(machine: Any, reference: Callable[[float], Any], offset: float,
           effort: Callable[[float, Any, Any], Any]) -> list[float]:
    """Return the largest error of the joints (mrad) at each step of a simulation."""
    q, v = reference(0.0)[:2]
    q, result = q + offset, []
    for k in range(STEPS):
        result.append(1e3 * float(np.abs(reference(1e-3 * k)[0] - q).max()))
        q, v = runge_kutta_munthe_kaas.step(machine, q, v, 1e-3, effort(1e-3 * k, q, v))
    return result


def lag() -> Curves:
    """Return the errors behind actuators that lag, with and without the rates of efforts."""
    page, curves = scope_of('time_derivatives.md'), {}
    arm, reference = page['arm'], page['reference']
    for label, name in (('efforts', 'efforts'), ('efforts and their rates', 'efforts_and_rates')):
        start = arm.inverse(*reference(0.0)[:3])
        actuators, command = page['LaggedActuators'](start, page['LAG'], 1e-3), page[name]

        def effort(t: float, q: Any, v: Any, command: Any = command, at: Any = actuators) -> Any:
            return at.step(command(t, q, v))

        curves[label] = errors(arm, reference, 0.0, effort)
    return curves


def payload() -> Curves:
    """Return the errors of computed torque, with and without knowledge of the payload."""
    page, curves = scope_of('arm.md'), {}
    reference, loaded = page['reference'], page['loaded']
    for label, known in (('payload not known', page['dynamics']), ('payload known', loaded)):
        def effort(t: float, q: Any, v: Any, known: Any = known) -> Any:
            wanted_q, wanted_v, wanted_a = reference(t)
            return known.inverse(q, v, wanted_a + page['STIFFNESS'] * (wanted_q - q)
                                 + page['DAMPING'] * (wanted_v - v))
        curves[label] = errors(loaded, reference, 0.05, effort)
    return curves


def draw(name: str, curves: Curves) -> None:
    """Write a picture of errors in time: what is wrong first, then what is right."""
    figure = new_figure(58.0)
    axes = figure.subplots()
    for (label, values), color in zip(curves.items(), (WRONG_COLOR, RIGHT_COLOR)):
        axes.semilogy(1e-3 * np.arange(len(values)), np.maximum(values, 1e-6), color=color,
                      label=label)
    axes.set(xlabel='time, s', ylabel='largest joint error, mrad', xlim=(0.0, 3.0),
             ylim=(1e-3, 1e3))
    legend_above(axes, len(curves))
    save(figure, IMAGES / f'{name}.png')


def draw_retiming() -> None:
    """Write a picture of a run that knows limits of torque rate, and of one that does not."""
    page = scope_of('retiming.md')
    arm, path, torque, limits = (page[name] for name in ('arm', 'path', 'TORQUE', 'MotionLimits'))
    runs = {'torque limited': (WRONG_COLOR, page['torque_alone']),
            'torque and its rate limited': (RIGHT_COLOR, page['retime'](
                arm, path, limits(torque=torque, torque_rate=15.0 * torque)))}
    figure = new_figure(110.0)
    rows = figure.subplots(3, 1, sharex=True)
    for label, (color, run) in runs.items():
        at = run.at(np.arange(0.0, run.duration, 0.001))
        for axes, values in zip(rows, (
                np.abs(at.torque / torque).max(axis=1),
                np.abs(at.torque_rate / torque).max(axis=1), page['follow'](run)[:len(at.t)])):
            axes.plot(at.t, values, color=color, label=label)
    for axes, bound in zip(rows, (1.0, 15.0)):
        axes.axhline(bound, color=BOUND, linestyle='--')
    rows[0].set(ylabel='torque / limit', ylim=(0.0, 1.3))
    rows[1].set(ylabel='rate, limits a second', yscale='log', ylim=(0.3, 3e3))
    rows[2].set(ylabel='joint error, mrad', yscale='log', ylim=(1e-3, 1e4), xlabel='time, s')
    legend_above(rows[0], 2)
    save(figure, IMAGES / 'retiming.png')


def draw_command() -> None:
    """Write the picture that the command retime draws of the guide's arm."""
    page = scope_of('retiming.md')
    picture.draw(page['retime'](page['arm'], page['path'], page['limits']),
                 IMAGES / 'retime_command.png')


def draw_calibration() -> None:
    """Write a picture of errors at held-out poses, and of the joints that explain them."""
    page = scope_of('calibrate.md')
    found, drawing = (page[name] for name in ('found', 'drawing'))
    figure = new_figure(72.0, PAGE)
    errors, plan = figure.subplots(1, 2, width_ratios=(1.2, 1.0))
    for label, held, color in (('drawing', found.held_out.before, WRONG_COLOR),
                               ('calibrated', found.held_out.after, RIGHT_COLOR)):
        errors.semilogy(np.arange(1, found.held_out.poses + 1), 1e3 * held.by_pose[0], 'o',
                        color=color, label=label)
    errors.set(xlabel='held-out pose', ylabel='error of the position, mm')
    legend_above(errors, 2)
    joints = np.stack((drawing.base_joints, drawing.platform_joints))
    corrections = LARGER * found.errors[:, :6].reshape(6, 2, 3).swapaxes(0, 1)
    ends = joints + corrections
    for label, begin, end, color in zip(('base', 'platform'), joints, ends, ('0.3', RIGHT_COLOR)):
        plan.plot(*begin[:, :2].T, 'o', color=color, label=label)
        plan.quiver(*begin[:, :2].T, *(end - begin)[:, :2].T, color=color, angles='xy',
                    scale_units='xy', scale=1.0, width=0.006)
    plan.set(xlabel='x, m', ylabel=f'y, m; corrections {LARGER:g} times as large', aspect='equal')
    plan.update_datalim(ends[..., :2].reshape(-1, 2))
    plan.autoscale_view()
    legend_above(plan, 2)
    save(figure, IMAGES / 'calibrate.png')


def main() -> None:
    """Draw them all."""
    no_arguments(__doc__)
    draw_calibration()
    draw('time_derivatives', lag())
    draw_retiming()
    draw_command()
    draw('payload', payload())


if __name__ == '__main__':
    main()
