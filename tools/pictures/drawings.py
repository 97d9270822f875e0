# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Draw the drawings of the documents from tables of the package: python -m tools.pictures.drawings.

`make docs` runs it first. Words stay words in these SVG files, so that a page's search and the
tests find them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle
import numpy as np
from tools.command_line import no_arguments
from tools.pictures.joint_types import joint_types

from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.pictures import new_figure, PAGE, PALETTE
from liedyn_ros.stewart import load_geometry

FOLDER = Path(__file__).resolve().parents[2] / 'docs' / 'images' / 'drawings'
BLUE, ORANGE, GREEN = PALETTE[0], PALETTE[1], PALETTE[2]
GREY, STEEL, RAIL = '0.35', '#e69f00', '#cc79a7'
AXES = ((1.0, 0.0, '#d00000', 'x'), (0.0, 1.0, '#009e73', 'y'))

# From, to, topic or service. Places are those of BOXES.
FLOW = (
    ('encoders or\nstewart_simulator', 'stewart_pose', 'leg_states'),
    ('stewart_pose', 'view', 'pose, status'),
    ('stewart_pose', 'stewart_controller', 'pose, odometry'),
    ('stewart_controller', 'drives or\ndynamics simulator', 'leg_forces'),
    ('drives or\ndynamics simulator', 'stewart_pose', 'leg_states'),
    ('encoders of\nsome joints', 'loop_state_publisher', 'joint_states'),
    ('loop_state_publisher', 'your controller', 'all joints'),
    ('your controller', 'dynamics_server', 'services'),
)
BOXES = {
    'encoders or\nstewart_simulator': (0.0, 2.0), 'stewart_pose': (1.0, 2.0), 'view': (2.0, 2.0),
    'drives or\ndynamics simulator': (1.0, 1.0), 'stewart_controller': (2.0, 1.0),
    'encoders of\nsome joints': (0.0, 0.0), 'loop_state_publisher': (1.0, 0.0),
    'your controller': (2.0, 0.0), 'dynamics_server': (3.0, 0.0)}


def platform_frames() -> Figure:
    """Return base and platform of the paper's machine from above, and both frames at home."""
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    figure = new_figure(78.0, PAGE)
    above, side = figure.subplots(1, 2, width_ratios=(1.0, 1.0))
    for joints, color, text, away in ((geometry.base_joints, GREY, 'base', 0.06),
                                      (geometry.platform_joints, BLUE, 'platform', -0.055)):
        above.plot(*np.concatenate((joints, joints[:1]))[:, :2].T, color=color, linewidth=1.8,
                   label=f'{text}: joints in the {text} frame')
        above.plot(*joints[:, :2].T, 'o', color=color, markersize=4)
        for name, (x, y, _) in zip(geometry.leg_names, joints):
            x, y = (1.0 + away / np.hypot(x, y)) * np.array([x, y])
            above.text(x, y, name.rpartition('_')[2] if color == BLUE else name, color=color,
                       ha='center', va='center', fontsize=6.5)
    frame(above, (-0.02, 0.0), 0.07)
    above.text(-0.04, -0.05, 'B and P', ha='center')
    above.set_title('from above: legs keep the order of the geometry file')
    above.legend(loc='upper center', bbox_to_anchor=(0.5, -0.02))
    home = np.array([0.0, 0.0, 0.5])
    tips = geometry.platform_joints + home
    for a, b in zip(geometry.base_joints, tips):
        side.plot((a[0], b[0]), (a[2], b[2]), color=STEEL, linewidth=1.8)
    for joints, color in ((geometry.base_joints, GREY), (tips, BLUE)):
        side.plot(joints[:, 0], joints[:, 2], 'o-', color=color, linewidth=1.8, markersize=4)
    for height, name in ((0.0, 'B: stewart_base'), (0.5, 'P: stewart_platform')):
        frame(side, (0.0, height), 0.08, 'xz')
        side.text(0.36, height, name, va='center')
    side.annotate('', (-0.02, 0.48), (-0.02, 0.02), arrowprops={'arrowstyle': '->'})
    for text, place, at in (('pose: P in B\nhome_position', (-0.3, 0.25), (-0.02, 0.25)),
                            ('a leg: its length is\nfrom joint to joint', (0.36, 0.26),
                             (0.21, 0.25))):
        side.annotate(text, at, place, ha='right' if place < at else 'left', va='center',
                      arrowprops={'arrowstyle': '-', 'color': GREY, 'linewidth': 0.7})
    side.set_title('from the side, at home: no rotation, at home_position')
    for axes in (above, side):
        finish(axes)
    above.set_ylim(-0.42, 0.42)
    side.set(ylim=(-0.1, 0.68), xlim=(-0.62, 0.86))
    return figure


def leg_forms() -> Figure:
    """Return what drives a leg, for each type that a geometry file can name."""
    figure = new_figure(62.0, PAGE)
    panels = figure.subplots(1, 4)
    tip = np.array([0.75, 1.0])
    forms: tuple[tuple[str, Callable[[Axes, Array], None]], ...] = (
        ('leg of variable length', extensible), ('rail: a carriage and a rod', rail),
        ('crank: an arm and a rod', crank), ('stage: a driven point, a guide', stage))
    for axes, (title, draw) in zip(panels, forms):
        axes.plot((tip[0] - 0.3, tip[0] + 0.3), (tip[1], tip[1]), color=BLUE, linewidth=3.0)
        axes.plot((-0.3, 1.1), (0.0, 0.0), color=GREY, linewidth=3.0)
        draw(axes, tip)
        axes.plot(*tip, 'o', color=BLUE)
        axes.set_title(title)
        finish(axes)
        axes.set(xlim=(-0.4, 1.3), ylim=(-0.35, 1.25))
    panels[0].text(tip[0], 1.08, 'platform', color=BLUE, ha='center')
    panels[0].text(0.7, -0.15, 'base', color=GREY)
    return figure


def extensible(axes: Axes, tip: Array) -> None:
    """Draw a leg whose length is driven."""
    axes.plot((0.1, 0.1 + 0.6 * 0.65), (0.0, 0.6), color=STEEL, linewidth=6.0)
    axes.plot((0.1, tip[0]), (0.0, tip[1]), color=STEEL, linewidth=2.0)
    axes.plot(0.1, 0.0, 'o', color=GREY)
    axes.text(0.12, 0.62, 'length', color=ORANGE, ha='right')


def rail(axes: Axes, tip: Array) -> None:
    """Draw a carriage on a straight rail, and its rod of fixed length."""
    axes.plot((-0.2, 0.6), (0.12, 0.12), color=RAIL, linewidth=3.0)
    axes.add_patch(Rectangle((0.12, 0.08), 0.16, 0.1, color=RAIL))
    axes.plot((0.2, tip[0]), (0.15, tip[1]), color=STEEL, linewidth=2.0)
    axes.annotate('', (0.12, 0.28), (-0.2, 0.28), arrowprops={'arrowstyle': '->'})
    axes.text(-0.2, 0.34, 'position', color=ORANGE)
    axes.text(0.52, 0.5, 'rod')


def crank(axes: Axes, tip: Array) -> None:
    """Draw the arm of a servo, and its rod of fixed length."""
    axes.add_patch(Circle((0.0, 0.0), 0.33, fill=False, linestyle=':', color=GREY))
    end = 0.33 * np.array([np.cos(0.7), np.sin(0.7)])
    axes.plot((0.0, end[0]), (0.0, end[1]), color=RAIL, linewidth=4.0)
    axes.plot((end[0], tip[0]), (end[1], tip[1]), color=STEEL, linewidth=2.0)
    axes.plot(0.0, 0.0, 'o', color=GREY)
    axes.text(0.4, 0.05, 'angle', color=ORANGE)
    axes.text(0.56, 0.5, 'rod')


def stage(axes: Axes, tip: Array) -> None:
    """Draw a point that two drives move in a plane, and the guide on which the joint slides."""
    axes.plot((-0.2, 0.6), (0.12, 0.12), color=RAIL, linewidth=3.0)
    axes.plot((-0.02, 0.42), (-0.1, 0.34), color=RAIL, linewidth=3.0)
    axes.add_patch(Rectangle((0.12, 0.07), 0.16, 0.1, color=RAIL, zorder=3))
    along = tip - (0.2, 0.12)
    axes.plot(*np.stack(((0.2, 0.12), tip + 0.2 * along)).T, color=STEEL, linewidth=2.0)
    axes.text(-0.3, 0.34, 'two\npositions', color=ORANGE)
    axes.text(0.55, 0.5, 'guide, free')


def data_flow() -> Figure:
    """Return the nodes and the topics between them."""
    figure = new_figure(80.0, PAGE)
    axes = figure.subplots()
    for name, (x, y) in BOXES.items():
        ours = not name.startswith(('encoders of', 'your'))
        axes.add_patch(FancyBboxPatch(
            (x - 0.33, y - 0.2), 0.66, 0.4, boxstyle='round,pad=0.02', linewidth=1.0,
            facecolor='#e3eef7' if ours else '#f0f0f0', edgecolor=BLUE if ours else GREY))
        axes.text(x, y, name, ha='center', va='center', fontsize=6.5)
    for begin, end, topic in FLOW:
        (x, y), (u, v) = BOXES[begin], BOXES[end]
        along = np.sign([u - x, v - y]) * (0.36, 0.23)
        start, stop = (x + along[0], y + along[1]), (u - along[0], v - along[1])
        axes.annotate('', stop, start, arrowprops={'arrowstyle': '->', 'color': ORANGE})
        flat = bool(start[1] == stop[1])
        axes.text(0.5 * (start[0] + stop[0]) + (0.0 if flat else 0.05),
                  0.5 * (start[1] + stop[1]) + (0.1 if flat else 0.0), topic,
                  ha='center' if flat else 'left', va='center', fontsize=6.0, color=ORANGE)
    axes.set(xlim=(-0.4, 3.4), ylim=(-0.35, 2.35))
    axes.set_axis_off()
    return figure


def frame_axes() -> Figure:
    """Return in which axes, and about which point, the numbers of a frame can be."""
    figure = new_figure(58.0, PAGE)
    link, turn = np.array([0.75, 0.45]), np.radians(35.0)
    for axes, (title, origin, angle) in zip(figure.subplots(1, 3), (
            ('LOCAL', link, turn), ('WORLD', np.zeros(2), 0.0),
            ('LOCAL_WORLD_ALIGNED', link, 0.0))):
        axes.plot((0.0, 0.35, link[0]), (0.0, 0.5, link[1]), color=STEEL, linewidth=5.0,
                  solid_capstyle='round', alpha=0.5)
        turned_frame(axes, np.zeros(2), 0.0, 0.3)
        turned_frame(axes, link, turn, 0.3)
        turned_frame(axes, origin, angle, 0.45)
        axes.plot(*origin, 'o', color='black', markersize=5)
        axes.text(*(origin + (0.05, -0.12)), 'origin of the numbers', fontsize=6.5)
        axes.set_title(title)
        finish(axes)
        axes.set(xlim=(-0.15, 1.45), ylim=(-0.25, 1.0))
    return figure


def turned_frame(axes: Axes, origin: Array, angle: float, size: float) -> None:
    """Draw the two axes of a frame in the plane; those that count are longer than 0.4."""
    counts = size > 0.4
    for along, (_, _, color, name) in zip((angle, angle + 0.5 * np.pi), AXES):
        end = origin + size * np.array([np.cos(along), np.sin(along)])
        axes.annotate('', end, origin, arrowprops={
            'arrowstyle': '->', 'color': color, 'linewidth': 2.0 if counts else 1.0,
            'alpha': 1.0 if counts else 0.4})
        if counts:
            axes.text(*(end + 0.03), name)


def contacts() -> Figure:
    """Return the kinds of contacts: what each holds, and what the ground applies."""
    figure = new_figure(50.0, PAGE)
    for axes, (kind, held) in zip(figure.subplots(1, 4), (
            ('point', 'holds a point;\nturns freely'), ('line', 'turns about\nthe edge alone'),
            ('surface', 'holds place\nand attitude'), ('sliding', 'holds the height;\nslides'))):
        axes.axhline(0.0, color=GREY, linewidth=2.0)
        leg = {'point': (0.0, 0.25), 'line': (0.25, 0.25)}.get(kind, (0.0, 0.0))
        axes.plot((0.0, leg[0]), (0.0, leg[1] + 0.75), color=STEEL, linewidth=5.0, alpha=0.6)
        width = {'point': 0.0, 'line': 0.0}.get(kind, 0.3)
        axes.plot((-width, width), (0.02, 0.02), color=STEEL, linewidth=5.0, alpha=0.6)
        axes.plot(0.0, 0.0, 'o' if kind == 'point' else 's', color='black', markersize=4)
        axes.annotate('', (0.0, 0.55), (0.0, 0.0), arrowprops={
            'arrowstyle': '->', 'color': BLUE, 'linewidth': 2.0})
        axes.text(-0.06, 0.5, 'normal', color=BLUE, ha='right', fontsize=6.5)
        if kind != 'sliding':
            axes.fill((0.0, -0.25, 0.25), (0.0, 0.4, 0.4), color=GREEN, alpha=0.15)
            axes.text(0.28, 0.36, 'friction', color=GREEN, fontsize=6.5)
        else:
            axes.annotate('', (0.6, 0.12), (0.3, 0.12), arrowprops={
                'arrowstyle': '->', 'color': ORANGE})
        axes.text(0.0, -0.12, held, ha='center', va='top', fontsize=6.5)
        axes.set_title(kind)
        finish(axes)
        axes.set(xlim=(-0.7, 0.8), ylim=(-0.4, 1.05))
    return figure


def words() -> Figure:
    """Return an arm and what its parts are called."""
    figure = new_figure(62.0, PAGE)
    axes = figure.subplots()
    arm = np.array([(0.0, 0.0), (0.0, 0.5), (1.0, 1.1), (1.9, 0.8), (2.3, 0.8)])
    rod = np.array([(0.75, 0.0), (0.6, 0.86)])
    axes.axhline(0.0, color=GREY, linewidth=2.0)
    axes.plot(*arm.T, color=STEEL, linewidth=6.0, alpha=0.6, solid_capstyle='round')
    axes.plot(*rod.T, color=BLUE, linewidth=3.0)
    axes.plot(*arm[1:4].T, 'o', color='black', markersize=6)
    axes.add_patch(Rectangle((2.3, 0.62), 0.35, 0.35, facecolor=GREEN, alpha=0.5))
    axes.plot((2.475, 2.475), (0.0, 0.62), ':', color=ORANGE)
    turned_frame(axes, arm[-1], 0.0, 0.41)
    for text, at, place in (
            ('base frame: the first body', (0.0, 0.2), (-1.4, 0.3)),
            ('joint', arm[1], (-0.35, 0.75)), ('link, here a body', (1.4, 0.97), (1.35, 1.35)),
            ('loop, here a closure', (0.69, 0.35), (1.0, 0.35)),
            ('end effector, here a frame', arm[-1], (2.0, 1.45)),
            ('payload', (2.65, 0.75), (2.9, 0.55)),
            ('contact: a closure\nthat comes and goes', (2.475, 0.02), (2.75, 0.12))):
        axes.annotate(text, at, place, va='center', arrowprops={
            'arrowstyle': '-', 'color': GREY, 'linewidth': 0.7})
    finish(axes)
    axes.set(xlim=(-1.5, 4.0), ylim=(-0.1, 1.6))
    return figure


def assemblies() -> Figure:
    """Return the two ways to close a four-bar, and the pose where both meet."""
    figure = new_figure(46.0, PAGE)
    ground, crank, coupler, follower = 1.3, 0.7, 1.0, 0.8
    apart = coupler + follower  # where both are in line
    last = np.arccos((ground**2 + crank**2 - apart**2) / (2.0 * ground * crank))
    for axes, angle, title in zip(figure.subplots(1, 2), (0.5 * last, last), (
            'one crank angle, two assemblies:\nstart near the one that is meant',
            'both meet where coupler and follower are\nin line: NEAR_SINGULAR')):
        end = crank * np.array([np.cos(angle), np.sin(angle)])
        way = np.array([ground, 0.0]) - end
        length = float(np.hypot(*way))
        along = (length**2 + coupler**2 - follower**2) / (2.0 * length)
        beside = np.sqrt(max(coupler**2 - along**2, 0.0))
        for sign, color, style in ((1.0, BLUE, '-'), (-1.0, ORANGE, '--')):
            knee = end + (along * way + sign * beside * np.array([-way[1], way[0]])) / length
            chain = np.array([(0.0, 0.0), end, knee, (ground, 0.0)])
            axes.plot(*chain.T, style, color=color, linewidth=2.5)
            axes.plot(*chain.T, 'o', color='black', markersize=4)
        axes.plot((0.0, ground), (0.0, 0.0), color=GREY, linewidth=2.0)
        axes.set_title(title)
        finish(axes)
    return figure


def queries() -> Figure:
    """Return the ways from a controller to the dynamics, and how long an answer takes."""
    figure = new_figure(46.0, PAGE)
    axes = figure.subplots()
    for x, name, color in ((0.0, 'your controller', GREY), (2.0, 'dynamics_server', BLUE)):
        axes.add_patch(FancyBboxPatch((x - 0.4, -0.75), 0.8, 1.5, boxstyle='round,pad=0.02',
                                      facecolor='#f0f0f0' if x == 0.0 else '#e3eef7',
                                      edgecolor=color))
        axes.text(x, 0.0, name, ha='center', va='center')
    for y, text, answer in (
            (0.55, 'a query on a topic', 'the answer, with its stamp: 0.2 to 0.5 ms'),
            (-0.3, 'a request to a service', 'the response: 0.3 ms and more')):
        for height, said, (begin, end) in ((y, text, (0.45, 1.55)),
                                           (y - 0.25, answer, (1.55, 0.45))):
            axes.annotate('', (end, height), (begin, height), arrowprops={
                'arrowstyle': '->', 'color': ORANGE})
            axes.text(1.0, height + 0.03, said, ha='center', va='bottom', fontsize=6.5)
    axes.set(xlim=(-0.5, 2.5), ylim=(-0.85, 0.85))
    axes.set_axis_off()
    return figure


def frame(axes: Axes, origin: tuple[float, float], size: float, names: str = 'xy') -> None:
    """Draw the two axes of a frame that are seen."""
    for (u, v, color, _), axis in zip(AXES, names):
        end = (origin[0] + u * size, origin[1] + v * size)
        axes.annotate('', end, origin, arrowprops={
            'arrowstyle': '->', 'color': '#0072b2' if axis == 'z' else color, 'linewidth': 1.6})
        axes.text(end[0] + 0.015, end[1] + 0.015, axis)


def finish(axes: Axes) -> None:
    """Leave the drawing alone, in true proportions."""
    axes.set_aspect('equal')
    axes.set_axis_off()


DRAWINGS: dict[str, Callable[[], Figure]] = {
    'platform_frames': platform_frames, 'leg_forms': leg_forms, 'joint_types': joint_types,
    'data_flow': data_flow, 'frame_axes': frame_axes, 'contacts': contacts, 'words': words,
    'assemblies': assemblies, 'queries': queries}


def write(folder: Path) -> None:
    """Write all drawings into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    style: dict[str, Any] = {'svg.fonttype': 'none', 'font.family': 'sans-serif'}
    with matplotlib.rc_context(style):
        for name, draw in DRAWINGS.items():
            draw().savefig(folder / f'{name}.svg', metadata={'Date': None}, facecolor='white')


if __name__ == '__main__':
    no_arguments(__doc__)
    write(FOLDER)
