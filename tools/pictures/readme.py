# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Draw README's moving picture: python -m tools.pictures.readme.

Left, a Stewart platform led through a singularity: where it is, and in red where a plain solver
takes it to be. Middle, both in numbers. Right, the aerial manipulator flown by its controller. All
run without ROS processes. The flight is one period, so that it repeats without a jump.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
import numpy as np
from PIL import Image
from tools.command_line import no_arguments

from liedyn_ros.aerial import AerialManipulator, FlightSimulation, Reference
from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Feedback, Gains, tracking_error
from liedyn_ros.demo.stewart import singularity
from liedyn_ros.demo.stewart.crossing import Crossing
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import load_model, scale_masses
from liedyn_ros.pictures import draw_machine, draw_platform, RIGHT_COLOR, WRONG_COLOR
from liedyn_ros.stewart import (
    Flag, LegSimulation, load_geometry, MonitorConfig, MonitoredTracker, PoseTracker,
    SmoothTrajectory, StewartGeometry)
from liedyn_ros.stewart.platform.state import PlatformMeter

PATH = Path(__file__).resolve().parents[2] / 'docs' / 'images' / 'demos.gif'
START, PERIOD, FRAMES = 10.0, 10.0, 60  # s of flight, one period of it; pictures of it
TIMES = START + PERIOD * np.arange(FRAMES) / FRAMES  # s
HELD = 12  # pictures of the last pose of the platform
FRAME_TIME = 80  # ms
SIZE, DPI, COLORS = (9.6, 3.0), 100, 96  # in; of the palette
FLOOR_LINES = 9
CONTROL_STEPS = 4  # simulation steps of 1 ms between two commands
SAID = {Flag.APPROACHING_SINGULARITY: 'approaching a singularity',
        Flag.NEAR_SINGULARITY: 'near a singularity', Flag.BRANCH_UNSURE: 'two poses possible'}


def crossing_of(geometry: StewartGeometry) -> Crossing:
    """Return the passage of the demo, computed in this process."""
    home = se3.from_rotation_translation(
        so3.exp(singularity.HOME_TURN), singularity.HOME_POSITION)
    motion = SmoothTrajectory(
        home, np.array([0.0, 0.0, singularity.CROSSING_TURN, 0.0, 0.0, 0.0]),
        np.full(6, singularity.CROSSING_FREQUENCY), np.zeros(6))
    rate = singularity.CROSSING_RATE
    simulation = LegSimulation(geometry, motion, rate, length_noise=singularity.CROSSING_NOISE,
                               seed=singularity.NOISE_SEED)
    ours = MonitoredTracker(geometry, home, config=MonitorConfig(
        leg_noise=singularity.CROSSING_NOISE, hold_hypotheses=True))
    plain, rows = PoseTracker(geometry, home), []
    for k in range(round(singularity.CROSSING_TIME * rate)):
        sample, stamp = simulation.take(), 10 ** 9 + round(1e9 * k / rate)
        found = ours.track(stamp, sample.lengths)
        rows.append((k / rate, sample.pose, plain.track(stamp, sample.lengths).pose, found.pose,
                     found.flags))
    times, truth, wrong, right, flags = zip(*rows)
    return Crossing(
        times=np.array(times), truth=np.array(truth), plain=np.array(wrong),
        distances=np.asarray(PlatformMeter(geometry).signed_values(np.array(truth))),
        answered=len(rows), ours_times=np.array(times), ours=np.array(right),
        ours_truth=np.array(truth), flags=flags)


def flight(machine: AerialManipulator, times: Array) -> Iterator[Array]:
    """Yield the configurations (nq,) of a flight, the masses known 5 % too large."""
    known = Dynamics(scale_masses(machine.model, 1.05))
    reference, feedback = Reference(), Feedback(machine.model, Gains())
    simulation = FlightSimulation(machine, reference.at(0.0).q)
    for time in times:
        while simulation.time < time - 0.5 * simulation.dt:
            fly(simulation, known, reference, feedback)
        yield simulation.q


def fly(simulation: FlightSimulation, known: Dynamics, reference: Reference,
        feedback: Feedback) -> None:
    """Command once, from the newest state, and simulate until the next command."""
    model, q, v = simulation.machine.model, simulation.q, simulation.v
    error = tracking_error(model, reference.at(simulation.time), q, v)
    dt = CONTROL_STEPS * simulation.dt
    command = simulation.machine.command(
            known.inverse(q, v, feedback.acceleration(error, dt)), q)
    simulation.command_rotors(command.rotors.speeds)
    simulation.command_torques(command.torques)
    for _ in range(CONTROL_STEPS):
        simulation.step()


def picture(geometry: StewartGeometry, crossing: Crossing, row: int, machine: AerialManipulator,
            q: Array, frame: int) -> Image.Image:
    """Return one picture: the platform at a row of the passage, numbers, the machine in flight."""
    figure = Figure(figsize=SIZE, dpi=DPI)
    left: Any = figure.add_axes((0.0, -0.05, 0.32, 1.0), projection='3d')
    right: Any = figure.add_axes((0.645, -0.12, 0.365, 1.2), projection='3d')
    draw_platform(left, geometry, crossing.ours[row], '', numbered=False)
    if crossing.plain_errors[row] > 0.05:
        wrong = geometry.platform_joints @ crossing.plain[row][:3, :3].T
        wrong = (wrong + crossing.plain[row][:3, 3])[[*range(6), 0]]
        left.plot(*wrong.T, color=WRONG_COLOR, linewidth=2.5)
    draw_machine(right, machine.model, q[frame])
    right.plot(*np.append(q[:, :3], q[:1, :3], axis=0).T, color='tab:green', linewidth=0.8)
    frame_axes(left, ((-0.3, 0.3), (-0.3, 0.3), (0.0, 0.62)), 1.12)
    frame_axes(right, ((-1.25, 1.25), (-1.25, 1.25), (0.9, 1.7)), 1.03)
    numbers(figure, crossing, row)
    for x, text in ((0.16, 'Stewart platform: six lengths to a pose'),
                    (0.5, 'through a singularity'),
                    (0.83, 'flown through its dynamics')):
        figure.text(x, 0.94, text, ha='center', fontsize=9.5)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert('RGB')


def numbers(figure: Figure, crossing: Crossing, row: int) -> None:
    """Draw the yaw so far, both errors, and what the tracker says."""
    axes = figure.add_axes((0.375, 0.40, 0.27, 0.50))
    shown = slice(0, row + 1)
    for poses, style in ((crossing.truth, {'color': '0.78', 'linewidth': 5.0, 'label': 'truth'}),
                         (crossing.plain, {'color': WRONG_COLOR, 'linewidth': 2.0,
                                           'label': 'plain solver'}),
                         (crossing.ours, {'color': RIGHT_COLOR, 'linewidth': 1.5,
                                          'linestyle': '--', 'label': 'liedyn_ros'})):
        turned = so3.log(poses[:1, :3, :3].swapaxes(1, 2) @ poses[:, :3, :3])[:, 2]
        axes.plot(crossing.times[shown], np.degrees(turned[shown]), **style)
    axes.axvline(crossing.crossed_at, color='0.4', linestyle=':', linewidth=0.8)
    axes.set(xlim=(0.0, singularity.CROSSING_TIME), ylim=(0.0, 140.0), xlabel='time, s')
    axes.set_ylabel('yaw, degree', labelpad=1)
    axes.legend(loc='upper left', fontsize=7.5)
    for y, name, poses, color in ((0.14, 'plain solver', crossing.plain, WRONG_COLOR),
                                  (0.06, 'liedyn_ros', crossing.ours, RIGHT_COLOR)):
        error = se3.log(se3.compose(se3.inverse(crossing.truth[row]), poses[row]))
        degrees = np.degrees(np.linalg.norm(error[:3]))
        text = (f'{degrees:.0f} degrees off' if degrees >= 1.0 else
                f'right within {np.ceil(100.0 * degrees) / 100.0:.2f} degrees')
        figure.text(0.36, y, f'{name}: {text}', color=color, fontsize=9)
    said = [text for flag, text in SAID.items() if flag in crossing.flags[row]]
    passed = crossing.times[row] > crossing.crossed_at
    text = said[-1] if said else 'has crossed' if passed else 'tracking'
    figure.text(0.36, 0.22, f'says: {text}', fontsize=9, weight='bold',
                color='#b36b00' if said else '0.2')


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
    """Write the moving picture of some times of the flight, s."""
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    machine = AerialManipulator(load_model(config_file('aerial_manipulator.yaml')))
    crossing, q = crossing_of(geometry), np.array(list(flight(machine, times)))
    last = len(crossing.times) - 1
    moving = max(len(times) - HELD, 1)
    rows = [min(round(last * k / moving), last) for k in range(len(times))]
    pictures = [picture(geometry, crossing, row, machine, q, k) for k, row in enumerate(rows)]
    palette = pictures[-1].quantize(COLORS)  # one for all, so that still areas compress
    shown = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    shown[0].save(path, save_all=True, append_images=shown[1:], duration=FRAME_TIME, loop=0,
                  optimize=True)


if __name__ == '__main__':
    no_arguments(__doc__)
    draw(PATH)
