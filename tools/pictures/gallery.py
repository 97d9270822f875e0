# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Draw the machines of docs/guides/gallery.md in two poses: python -m tools.pictures.gallery."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
import sys
from typing import Any

from matplotlib.figure import Figure
import numpy as np
from tools.command_line import names_or_all

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import se3
from liedyn_ros.model import Model
from liedyn_ros.pictures import draw_machine, save
from liedyn_ros.pictures.style import INCH, ink

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / 'docs' / 'images' / 'gallery'
SPACE = {'delta', 'servo_hexapod', 'humanoid_ankle', 'dual_arm'}  # the others move in a plane
POSES = ((50, 1.0), (25, 0.25))  # row of the motion, opacity
WIDTH, SHARE = 58.0, 0.94  # mm, the longer side of a picture; share of it that is drawn on


def gallery() -> Any:
    """Return the module of the example."""
    spec = spec_from_file_location('gallery', ROOT / 'examples' / 'gallery.py')
    assert spec and spec.loader
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def corners(model: Model, q: Array) -> Array:
    """Return the ends of all bodies and of their shapes (n, 3), m."""
    poses = dict(zip(model.bodies, Dynamics(model).kinematics(q).poses))
    found = [pose[:3, 3] for pose in poses.values()]
    for body in model.body_list:
        for visual in body.visuals:
            radius = visual.size.max() / (2.0 if visual.shape == 'box' else 1.0)
            centre = poses[body.name] @ visual.placement
            found += [*se3.act(centre, radius * np.concatenate((np.eye(3), -np.eye(3))))]
    return np.array(found)


def picture(machine: Dynamics, moved: Any, space: bool, scale: float) -> tuple[Figure, Any]:
    """Return a square picture of a machine in two poses, and its axes; scale: of widths."""
    figure = Figure(figsize=(WIDTH / INCH, WIDTH / INCH))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection='3d', proj_type='ortho')
    points = np.concatenate([corners(machine.model, moved.q[row]) for row, _ in POSES])
    middle, half = (points.max(axis=0) + points.min(axis=0)) / 2.0, np.ptp(points, axis=0) / 2.0
    for row, alpha in POSES:
        draw_machine(axes, machine.model, moved.q[row], alpha,
                     size=2.0 * float(half.max()) / scale)
    half = np.maximum(half, 0.05 * half.max())
    axes.set(**{f'{axis}lim': (m - h, m + h) for axis, m, h in zip('xyz', middle, half)})
    axes.set_box_aspect(half)
    axes.view_init(elev=18.0 if space else 0.0, azim=-55.0 if space else -90.0)
    axes.set_axis_off()
    return figure, axes


def draw(module: Any, name: str) -> None:
    """Write the picture of a machine, as large as its column, without white margins."""
    machine, scale = module.machine(name), 1.0
    moved = module.motion(machine, name)
    for _ in range(3):  # wider lines move the margins a little
        figure, axes = picture(machine, moved, name in SPACE, scale)
        low, high = ink(figure)
        scale = SHARE / (high - low).max()
    size = scale * (high - low) / SHARE  # of the picture, over WIDTH
    figure.set_size_inches(WIDTH / INCH * size)
    corner = 0.5 - scale * (low + high) / 2.0 / size
    axes.set_position((*corner, *(scale / size)))
    save(figure, IMAGES / f'{name}.png')


def main() -> None:
    """Draw all, or the machines that are named."""
    module = gallery()
    names = names_or_all(__doc__, module.MACHINES)
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name in names:
        draw(module, name)


if __name__ == '__main__':
    main()
