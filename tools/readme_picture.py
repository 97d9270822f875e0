# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Draw README's moving picture: python -m tools.readme_picture.

Left, a Stewart platform whose pose is found from its leg lengths; right, the aerial manipulator
flown by its controller. Both run without ROS. One period is drawn, so that the picture repeats
without a jump.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
import numpy as np
from PIL import Image

from liedyn_ros.aerial import AerialManipulator, Reference, Simulation
from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Feedback, Gains, tracking_error
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import se3
from liedyn_ros.model import load_model, scale_masses
from liedyn_ros.pictures import draw_machine, draw_platform
from liedyn_ros.stewart import (
    leg_lengths, load_geometry, PoseSolver, SmoothTrajectory, StewartGeometry)

matplotlib.use('Agg')

PATH = Path(__file__).resolve().parents[1] / 'docs' / 'images' / 'demos.gif'
START, PERIOD, FRAMES = 10.0, 10.0, 60  # s of motion, one period of both; pictures of it
TIMES = START + PERIOD * np.arange(FRAMES) / FRAMES  # s
FRAME_TIME = 80  # ms; the motion is shown at about twice its speed
SIZE, DPI, COLORS = (8.0, 3.7), 100, 64  # in; of the palette
FLOOR_LINES = 9
CONTROL_STEPS = 4  # simulation steps of 1 ms between two commands

AMPLITUDES = (0.2, 0.2, 0.35, 0.06, 0.06, 0.05)  # rad, m
FREQUENCIES = (0.2, 0.3, 0.1, 0.3, 0.2, 0.4)  # Hz, multiples of 1 / PERIOD
PHASES = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)


def platform_poses(geometry: StewartGeometry, times: Array) -> Array:
    """Return the poses (n, 4, 4) that the solver finds from the leg lengths of a motion."""
    home = se3.from_rotation_translation(np.eye(3), np.array([0.0, 0.0, 0.5]))
    truth = SmoothTrajectory(home, *map(np.array, (AMPLITUDES, FREQUENCIES, PHASES))).pose(times)
    solver, pose, poses = PoseSolver(geometry), home, []
    for lengths in leg_lengths(geometry, truth):
        pose = solver.solve(lengths, pose).pose
        poses.append(pose)
    return np.array(poses)


def flight(machine: AerialManipulator, times: Array) -> Iterator[Array]:
    """Yield the configurations (nq,) of a flight, the masses known 5 % too large."""
    known = Dynamics(scale_masses(machine.model, 1.05))
    reference, feedback = Reference(), Feedback(machine.model, Gains())
    simulation = Simulation(machine, reference.at(0.0).q)
    for time in times:
        while simulation.time < time - 0.5 * simulation.dt:
            fly(simulation, known, reference, feedback)
        yield simulation.q


def fly(simulation: Simulation, known: Dynamics, reference: Reference, feedback: Feedback) -> None:
    """Command once, from the newest state, and simulate until the next command."""
    model, q, v = simulation.machine.model, simulation.q, simulation.v
    error = tracking_error(model, reference.at(simulation.time), q, v)
    dt = CONTROL_STEPS * simulation.dt
    command = simulation.machine.command(known.inverse(q, v, feedback.acceleration(error, dt)))
    simulation.command_rotors(command.rotors.speeds)
    simulation.command_torques(command.torques)
    for _ in range(CONTROL_STEPS):
        simulation.step()


def picture(geometry: StewartGeometry, poses: Array, machine: AerialManipulator, q: Array,
            frame: int) -> Image.Image:
    """Return one picture: the platform and the aerial manipulator, each with its path."""
    figure = Figure(figsize=SIZE, dpi=DPI)
    left: Any = figure.add_axes((0.0, 0.0, 0.45, 0.95), projection='3d')
    right: Any = figure.add_axes((0.43, 0.0, 0.57, 0.95), projection='3d')
    draw_platform(left, geometry, poses[frame], '', numbered=False)
    path = np.append(poses, poses[:1], axis=0)[:, :3, 3]
    left.plot(*path.T, color='tab:green', linewidth=0.6)
    draw_machine(right, machine.model, q[frame])
    right.plot(*np.append(q[:, :3], q[:1, :3], axis=0).T, color='tab:green', linewidth=0.8)
    frame_axes(left, ((-0.32, 0.32), (-0.32, 0.32), (0.0, 0.6)), 1.15)
    frame_axes(right, ((-1.3, 1.3), (-1.3, 1.3), (0.7, 1.8)), 1.18)
    for axes, title in ((left, 'Stewart platform: pose from six leg lengths'),
                        (right, 'Aerial manipulator: flown through its dynamics')):
        axes.set_title(title, fontsize=10, y=0.98)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert('RGB')


def frame_axes(axes: Any, limits: tuple[tuple[float, float], ...], zoom: float) -> None:
    """Give axes the same limits in every picture, and a floor in place of numbers."""
    for name, (low, high) in zip('xyz', limits):
        getattr(axes, f'set_{name}lim')(low, high)
    axes.set_box_aspect([high - low for low, high in limits], zoom=zoom)
    axes.view_init(elev=22.0, azim=-58.0)
    axes.set_axis_off()
    (left, right), (near, far), (floor, _) = limits
    for share in np.linspace(0.0, 1.0, FLOOR_LINES):
        x, y = left + share * (right - left), near + share * (far - near)
        axes.plot((left, right), (y, y), (floor, floor), color='0.85', linewidth=0.8, zorder=-1)
        axes.plot((x, x), (near, far), (floor, floor), color='0.85', linewidth=0.8, zorder=-1)


def draw(path: Path, times: Array = TIMES) -> None:
    """Write the moving picture of some times of the motion, s."""
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    machine = AerialManipulator(load_model(config_file('aerial_manipulator.yaml')))
    poses, q = platform_poses(geometry, times), np.array(list(flight(machine, times)))
    pictures = [picture(geometry, poses, machine, q, k) for k in range(len(times))]
    palette = pictures[0].quantize(COLORS)  # one for all, so that still areas compress
    shown = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    shown[0].save(path, save_all=True, append_images=shown[1:], duration=FRAME_TIME, loop=0,
                  optimize=True)


if __name__ == '__main__':
    draw(PATH)
