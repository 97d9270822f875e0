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

from matplotlib.figure import Figure
import numpy as np

from liedyn_ros.aerial import AerialManipulator
from liedyn_ros.common.checks import Array
from liedyn_ros.demo.aerial.flight import RecordedFlight
from liedyn_ros.pictures import (
    BOUND, draw_machine, fill, legend_beside, new_figure, PAGE, PALETTE, RIGHT_COLOR, save)

MAX_FLIGHT_POINTS = 1500  # points of a line that is drawn; more cannot be seen
DRAWN_POSES = 4  # of the machine along its path
TRANSIENT = 2.0  # s after which errors set the scale; the start is at rest, without error


def draw(flight: RecordedFlight, machine: AerialManipulator, folder: Path) -> None:
    """Write aerial_trajectory, aerial_errors, aerial_commands, aerial_machine."""
    for name, figure in (
            ('trajectory', _trajectory(flight, machine)), ('errors', _errors(flight)),
            ('commands', _commands(flight, machine)), ('machine', _machine(flight, machine))):
        save(figure, folder / f'aerial_{name}.png')


def _trajectory(flight: RecordedFlight, machine: AerialManipulator) -> Figure:
    figure = new_figure(120.0, PAGE)
    panels = figure.subplots(3, 1, sharex=True)
    every = max(1, len(flight.times) // MAX_FLIGHT_POINTS)
    times, flown, wanted = flight.times[::every], flight.q[::every], flight.wanted[::every]
    columns = (
        (panels[0], 'position, m', 'xyz', flown[:, :3], wanted[:, :3]),
        (panels[1], 'yaw, degree', ('yaw',), _yaw(flown)[:, None], _yaw(wanted)[:, None]),
        (panels[2], 'joints, degree', machine.joints, np.degrees(flown[:, 7:]),
         np.degrees(wanted[:, 7:])))
    for axes, label, names, values, targets in columns:
        for k, name in enumerate(names):
            color = PALETTE[k % len(PALETTE)]
            axes.plot(times, targets[:, k], color=color, linewidth=3.5, alpha=0.3,
                      label=f'_{name} of the reference')
            axes.plot(times, values[:, k], color=color, label=name.replace('_', ' '))
        legend_beside(axes)
        axes.set_ylabel(label)
    panels[0].set_title('reference wide and pale, flight thin')
    panels[2].set_xlabel('time, s')
    return figure


def _errors(flight: RecordedFlight) -> Figure:
    figure = new_figure(110.0)
    panels = figure.subplots(3, 1, sharex=True)
    begun = flight.times > 0.0
    for axes, errors, label in (
            (panels[0], 1e3 * flight.position_errors, 'position, mm'),
            (panels[1], np.degrees(flight.attitude_errors), 'attitude, degree'),
            (panels[2], np.degrees(flight.joint_errors), 'worst joint, degree')):
        axes.semilogy(flight.times[begun], errors[begun], color=RIGHT_COLOR)
        axes.set_ylim(bottom=0.5 * errors[flight.times > TRANSIENT].min())
        axes.set_ylabel(label)
    panels[2].set_xlabel('time, s')
    return figure


def _commands(flight: RecordedFlight, machine: AerialManipulator) -> Figure:
    figure = new_figure(120.0, PAGE)
    upper, middle, lower = figure.subplots(3, 1)
    every = max(1, len(flight.command_times) // MAX_FLIGHT_POINTS)
    times = flight.command_times[::every]
    for axes, names, values, label in (
            (upper, machine.rotors, flight.speeds, 'rotor speed, rad/s'),
            (middle, machine.joints, flight.torques, 'joint torque, N m')):
        for k, name in enumerate(names):
            axes.plot(times, values[::every, k], label=name.replace('_', ' '))
        legend_beside(axes)
        axes.set(xlabel='time, s', ylabel=label)
    periods = 1e3 * np.diff(flight.command_times)
    lower.hist(periods, bins=np.arange(0.0, max(periods.max(), 12.0) + 0.5, 0.5), log=True,
               color=RIGHT_COLOR, label='commands')
    lower.axvline(5.0, color=BOUND, linestyle='--', label='5 ms: 200 Hz')
    legend_beside(lower)
    lower.set(xlabel='time between two commands, ms', ylabel='commands')
    return figure


def _machine(flight: RecordedFlight, machine: AerialManipulator) -> Figure:
    figure = new_figure(92.0, 140.0)
    axes: Any = figure.add_subplot(projection='3d')
    every = max(1, len(flight.times) // MAX_FLIGHT_POINTS)
    axes.plot(*flight.wanted[::every, :3].T, color='0.75', linewidth=3.5, label='reference')
    axes.plot(*flight.q[::every, :3].T, color=PALETTE[2], label='flight')
    last = float(flight.times[-1])
    for k, t in enumerate(np.linspace(0.0, last * (DRAWN_POSES - 1) / DRAWN_POSES, DRAWN_POSES)):
        row = int(np.searchsorted(flight.times, t))
        draw_machine(axes, machine.model, flight.q[row], alpha=0.4 + 0.6 * (k + 1) / DRAWN_POSES)
        axes.text(*(1.9 * flight.q[row, :2]), flight.q[row, 2] - 0.2, f'{t:.0f} s', ha='center')
    axes.set(xlabel='x, m', ylabel='y, m', zlabel='z, m')
    axes.set_zlim(0.0, None)
    axes.locator_params(nbins=5)
    axes.set_aspect('equal')
    axes.view_init(elev=28.0, azim=-58.0)
    fill(axes, above=5.0)
    figure.legend(loc='upper left', ncols=2)
    return figure


def _yaw(q: Array) -> Array:
    """Return the yaw (n,), degree, of level attitudes."""
    return np.degrees(2.0 * np.arctan2(q[:, 5], q[:, 6]))
