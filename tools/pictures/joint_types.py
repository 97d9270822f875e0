# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The drawing of the joint types: what each does, by signs and in words, and its coordinates."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.model.kernels import kinds
from liedyn_ros.model.parts.joints import JOINT_TYPES
from liedyn_ros.pictures import new_figure, PAGE, PALETTE

# What each elementary link does, with its axis.
MOVES = {kinds.REVOLUTE: 'turn about {}', kinds.PRISMATIC: 'slide along {}',
         kinds.HELICAL: 'screw along {}', kinds.SPHERICAL: 'turn about any axis',
         kinds.FREE: 'move freely'}
ALONG = {'x': (1.0, 0.0), 'y': (0.6, 0.6), 'z': (0.0, 1.0)}  # as they are seen
BLUE, ORANGE, GREY = PALETTE[0], PALETTE[1], '0.45'
ROW, SIGN = 10.0, 10.0  # mm, height of a row and width of a sign
COLUMNS = {'joint type': 0.0, 'nq, nv': 22.0, 'signs': 36.0, 'motion of the child': 68.0,
           'names of coordinates': 143.0}  # mm from the left


def joint_types() -> Figure:
    """Return the coordinates of each joint type, from the table of the package."""
    height = ROW * (len(JOINT_TYPES) + 1.0)
    figure = new_figure(height, PAGE)
    figure.set_layout_engine('none')
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(-3.0, PAGE - 3.0), ylim=(-height + 0.5 * ROW, 0.5 * ROW))
    axes.set_axis_off()
    for head, x in COLUMNS.items():
        axes.text(x, 0.0, head, color=BLUE, va='center')
    for row, (name, kind) in enumerate(JOINT_TYPES.items()):
        y = -ROW * (row + 1.0)
        axes.text(COLUMNS['joint type'], y, name, weight='bold', va='center')
        axes.text(COLUMNS['nq, nv'], y, f'{kind.nq}, {kind.nv}', va='center')
        axes.text(COLUMNS['motion of the child'], y, ', then '.join(
            MOVES[link].format(axis) for link, axis in kind.links) or 'none', va='center')
        axes.text(COLUMNS['names of coordinates'], y, ', '.join(
            filter(None, kind.coordinates)) or (
                "the joint's name" if kind.coordinates else '-'), va='center')
        for place, (link, axis) in enumerate(kind.links):
            at = np.array([COLUMNS['signs'] + SIGN * (place + 0.35), y])
            if link in (kinds.SPHERICAL, kinds.FREE):
                ball(axes, at, held=link == kinds.SPHERICAL)
            else:
                sign(axes, at, link, axis)
    return figure


def sign(axes: Axes, at: Array, link: int, axis: str) -> None:
    """Draw an axis (grey), a turn about it, a slide along it, or both."""
    along = np.array(ALONG[axis])
    across = np.array([-along[1], along[0]]) / np.linalg.norm(along)
    axes.plot(*np.transpose((at - 3.2 * along, at + 2.9 * along)), color=GREY, linewidth=0.7)
    label = at + 4.3 * along
    axes.text(*label, axis, color=GREY, fontsize=6.0, ha='center', va='center')
    if link in (kinds.REVOLUTE, kinds.HELICAL):
        turn = np.linspace(0.3, 1.75, 40)[:, None] * np.pi
        arc = at + 2.2 * np.sin(turn) * across + 0.9 * np.cos(turn) * along
        axes.plot(*arc.T, color=ORANGE)
        axes.annotate('', arc[-1], arc[-4], arrowprops={
            'arrowstyle': '->', 'color': ORANGE, 'mutation_scale': 6})
    if link in (kinds.PRISMATIC, kinds.HELICAL):
        beside = at - (3.4 if link == kinds.HELICAL else 1.4) * across
        axes.annotate('', beside + 2.9 * along, beside - 2.9 * along, arrowprops={
            'arrowstyle': '<->', 'color': ORANGE, 'shrinkA': 0.0, 'shrinkB': 0.0,
            'mutation_scale': 6})


def ball(axes: Axes, at: Array, *, held: bool) -> None:
    """Draw a body in a socket that lets it turn, or, not held, in nothing."""
    turn = np.linspace(0.0, 2.0, 60)[:, None] * np.pi
    if held:
        socket = at + 2.9 * np.concatenate((np.sin(turn[8:53]), np.cos(turn[8:53])), axis=1)
        axes.plot(*socket.T, color=GREY)
        axes.fill(*(at + 2.0 * np.concatenate((np.sin(turn), np.cos(turn)), axis=1)).T,
                  color=ORANGE)
    else:
        axes.add_patch(Rectangle((at[0] - 2.0, at[1] - 1.5), 4.0, 3.0, color=ORANGE))
        axes.add_patch(Rectangle((at[0] - 3.4, at[1] - 2.9), 6.8, 5.8, fill=False,
                                 linestyle=':', color=GREY))
