# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The aerial manipulator's pictures: trajectory, errors, commands, and the machine in space."""

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np

from liedyn_ros.aerial import AerialManipulator
from liedyn_ros.common.checks import Array
from liedyn_ros.demo.aerial.flight import RecordedFlight
from liedyn_ros.demo.aerial.machine_picture import draw_machine

matplotlib.use('Agg')

SHOWN = 1500  # points of a line that is drawn; more cannot be seen
POSES = 6  # of the machine along its path
COLORS = tuple(f'C{k}' for k in range(10))


def draw(flight: RecordedFlight, machine: AerialManipulator, folder: Path) -> None:
    """Write aerial_trajectory.png, aerial_errors.png, aerial_commands.png, aerial_machine.png."""
    for name, figure in (
            ('trajectory', _trajectory(flight, machine)), ('errors', _errors(flight)),
            ('commands', _commands(flight, machine)), ('machine', _machine(flight, machine))):
        figure.savefig(folder / f'aerial_{name}.png', dpi=120)


def _trajectory(flight: RecordedFlight, machine: AerialManipulator) -> Figure:
    figure = Figure(figsize=(9, 8), layout='constrained')
    panels = figure.subplots(3, 1, sharex=True)
    every = max(1, len(flight.times) // SHOWN)
    times, flown, wanted = flight.times[::every], flight.q[::every], flight.wanted[::every]
    columns = (
        (panels[0], 'position, m', 'xyz', flown[:, :3], wanted[:, :3]),
        (panels[1], 'yaw, degree', ('yaw',), _yaw(flown)[:, None], _yaw(wanted)[:, None]),
        (panels[2], 'joints, degree', machine.joints, np.degrees(flown[:, 7:]),
         np.degrees(wanted[:, 7:])))
    for axes, label, names, values, targets in columns:
        for k, name in enumerate(names):
            axes.plot(times, targets[:, k], color=COLORS[k], linewidth=4, alpha=0.3)
            axes.plot(times, values[:, k], color=COLORS[k], linewidth=1,
                      label=name.replace('_', ' '))
        axes.legend(fontsize=8, loc='center left', bbox_to_anchor=(1.0, 0.5))
        _label(axes, '', label)
    panels[0].set_title('Aerial manipulator: the reference (wide, pale) and the flight (thin)')
    panels[2].set_xlabel('time, s')
    return figure


def _errors(flight: RecordedFlight) -> Figure:
    figure = Figure(figsize=(9, 7), layout='constrained')
    panels = figure.subplots(3, 1, sharex=True)
    for axes, errors, bound, label in (
            (panels[0], 1e3 * flight.position_errors, 10.0, 'position, mm'),
            (panels[1], np.degrees(flight.attitude_errors), 1.0, 'attitude, degree'),
            (panels[2], np.degrees(flight.joint_errors), None, 'largest of the joints, degree')):
        axes.semilogy(flight.times, np.maximum(errors, 1e-5), color='C0', linewidth=1)
        if bound is not None:
            axes.plot((2.0, flight.times[-1]), (bound, bound), color='C3', linestyle='--',
                      label=f'bound after 2 s: {bound:g}')
            axes.legend(fontsize=8, loc='lower right')
        _label(axes, '', label)
    panels[0].set_title('Tracking error with all masses known 5 % too large')
    panels[2].set_xlabel('time, s')
    return figure


def _commands(flight: RecordedFlight, machine: AerialManipulator) -> Figure:
    figure = Figure(figsize=(9, 7), layout='constrained')
    upper, middle, lower = figure.subplots(3, 1)
    every = max(1, len(flight.command_times) // SHOWN)
    times = flight.command_times[::every]
    for axes, names, values, label in (
            (upper, machine.rotors, flight.speeds, 'rotor speed, rad/s'),
            (middle, machine.joints, flight.torques, 'joint torque, N m')):
        for k, name in enumerate(names):
            axes.plot(times, values[::every, k], linewidth=1, label=name.replace('_', ' '))
        axes.legend(fontsize=8, loc='center left', bbox_to_anchor=(1.0, 0.5))
        _label(axes, 'time, s', label)
    periods = 1e3 * np.diff(flight.command_times)
    lower.hist(periods, bins=np.arange(0.0, max(periods.max(), 12.0) + 0.5, 0.5), log=True)
    lower.axvline(5.0, color='C3', linestyle='--', label='5 ms: 200 Hz')
    lower.legend(fontsize=8)
    _label(lower, 'time between two commands, ms', 'commands')
    upper.set_title(f'Commands, {flight.rate:.0f} a second')
    return figure


def _machine(flight: RecordedFlight, machine: AerialManipulator) -> Figure:
    figure = Figure(figsize=(10, 7))
    axes: Any = figure.add_axes((0.0, 0.0, 0.97, 0.95), projection='3d')
    every = max(1, len(flight.times) // SHOWN)
    for path, style in ((flight.wanted, {'color': '0.6', 'linestyle': '--', 'label': 'reference'}),
                        (flight.q, {'color': 'C2', 'label': 'flight'})):
        axes.plot(*path[::every, :3].T, linewidth=1.2, **style)
    last = float(flight.times[-1])
    for k, t in enumerate(np.linspace(0.0, last * (POSES - 1) / POSES, POSES)):
        row = int(np.searchsorted(flight.times, t))
        draw_machine(axes, machine.model, flight.q[row], alpha=0.3 + 0.7 * (k + 1) / POSES)
        axes.text(*(1.35 * flight.q[row, :2]), flight.q[row, 2] + 0.2, f'{t:.0f} s')
    axes.set_title('The aerial manipulator along its flight')
    axes.set_xlabel('x, m')
    axes.set_ylabel('y, m')
    axes.set_zlabel('z, m')
    axes.locator_params(axis='z', nbins=4)
    axes.set_box_aspect(np.ptp([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()], axis=1),
                        zoom=1.2)
    axes.view_init(elev=28.0, azim=-58.0)
    axes.legend(loc='upper left', bbox_to_anchor=(0.08, 0.95))
    return figure


def _yaw(q: Array) -> Array:
    """Return the yaw (n,), degree, of level attitudes."""
    return np.degrees(2.0 * np.arctan2(q[:, 5], q[:, 6]))


def _label(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
