# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model in three dimensions on paper: its visuals as lines and discs."""

from typing import Any

from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import se3
from liedyn_ros.model import Model, Visual
from liedyn_ros.pictures.style import new_figure, PAGE

POINTS_PER_METRE = 90.0  # widths of lines, of a machine of a metre
ROD_COLOR = '#555555'
_TURN = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
_DISC = np.stack((np.cos(_TURN), np.sin(_TURN), np.zeros_like(_TURN)), axis=1)


def draw_machine(
        axes: Any, model: Model, q: Array, alpha: float = 1.0, *, size: float = 1.0) -> None:
    """
    Draw a configuration on the axes of a 3-D plot.

    Flat cylinders become discs, everything else lines along its length, and the rods that close
    loops thin lines; without visuals, as of a URDF, the links become lines between their joints.

        >>> axes = new_figure(80.0).add_subplot(projection='3d')
        >>> draw_machine(axes, model, q, size=0.4)

    Args:
        axes: Of matplotlib, three-dimensional.
        model: Its visuals, or its joints where it has none, are drawn.
        q: (nq,), rad and m, in the order of the model's coordinates.
        alpha: Opacity, 0 to 1.
        size: Of the machine, m, by which widths of lines are chosen.
    """
    poses = dict(zip(model.bodies, Dynamics(model).kinematics(q).poses))
    if not any(body.visuals for body in model.body_list):
        _draw_links(axes, model, poses, alpha)
    for body in model.body_list:
        for visual in body.visuals:
            _draw(axes, poses[body.name] @ visual.placement, visual, alpha, size)
    for rotor in model.rotors:
        for visual in rotor.visuals:
            _draw(axes, poses[rotor.body] @ rotor.placement @ visual.placement, visual, alpha,
                  size)
    for closure in model.closures:
        if closure.type_name == 'rod':
            ends = ((closure.body_a, closure.frame_a), (closure.body_b, closure.frame_b))
            axes.plot(*np.array([(frame if body is None else poses[body] @ frame)[:3, 3]
                                 for body, frame in ends]).T, color=ROD_COLOR, alpha=alpha)


def beside_machine(
        model: Model, q: Array, height: float = 62.0) -> tuple[Figure, Any, Any]:
    """
    Draw a machine at the left of a figure, with axes for curves at its right.

        >>> figure, _, axes = beside_machine(model, q)
        >>> axes.plot(times, torques)

    Args:
        model: As draw_machine takes it.
        q: (nq,), rad and m, the configuration that is drawn.
        height: Of the figure, mm.

    Returns:
        The figure, the axes of the machine, and the axes for curves.
    """
    figure = new_figure(height, PAGE)
    space, axes = figure.add_subplot(1, 2, 1, projection='3d'), figure.add_subplot(1, 2, 2)
    draw_machine(space, model, q)
    space.set_box_aspect((1, 1, 1), zoom=1.5)
    space.axis('equal')
    space.set_axis_off()
    return figure, space, axes


def _draw_links(axes: Any, model: Model, poses: dict[str, Array], alpha: float) -> None:
    """Draw each link from its joint to the joints and loops that it bears, or past its centre."""
    ends = [(joint.parent, poses[joint.child][:3, 3]) for joint in model.joint_list]
    bearing = {body for body, _ in ends}
    ends += [(body.name, se3.act(poses[body.name], 2.0 * body.inertia.center_of_mass))
             for body in model.body_list if body.name not in bearing and body.inertia]
    ends += [(body, se3.act(poses[body], place[:3, 3])) for closure in model.closures
             for body, place in ((closure.body_a, closure.frame_a),
                                 (closure.body_b, closure.frame_b)) if body in poses]
    for body, end in ends:
        if body in poses:
            axes.plot(*np.stack((poses[body][:3, 3], end)).T, '-o', color=ROD_COLOR, alpha=alpha,
                      linewidth=4.0, markersize=6.0, solid_capstyle='round')


def _draw(axes: Any, pose: Array, visual: Visual, alpha: float, size: float) -> None:
    color, opacity = tuple(visual.color[:3]), alpha * visual.color[3]
    if visual.shape == 'cylinder' and visual.size[1] < visual.size[0]:
        axes.add_collection3d(Poly3DCollection(
            [se3.act(pose, visual.size[0] * _DISC)], facecolor=(*color, opacity),
            edgecolor=(*color, alpha), linewidth=0.5))
        return
    extent = _extent(visual)
    along = np.eye(3)[np.argmax(extent)] * extent.max() / 2.0
    axes.plot(*se3.act(pose, np.stack((-along, along))).T, color=color, alpha=opacity,
              linewidth=POINTS_PER_METRE / size * extent.min(), solid_capstyle='round')


def _extent(visual: Visual) -> Array:
    """Return the lengths (3,) of a shape along its axes, m."""
    if visual.shape == 'box':
        return visual.size
    width = 2.0 * visual.size[0]
    return np.array([width, width, visual.size[1] if visual.shape == 'cylinder' else width])
