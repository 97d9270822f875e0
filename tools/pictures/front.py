# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Draw the first picture of the README: an arm and a hexapod, and what the package says of them.

`python -m tools.pictures.front` writes docs/images/front.png. The arm is the UR5 of
example-robot-data with its meshes (trimesh), the numbers are computed as it is drawn.
"""

from importlib import metadata
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
import numpy as np
from tools.command_line import no_arguments
import trimesh

import liedyn_ros as ld
from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import SE3, SO3
from liedyn_ros.pictures import draw_platform
from liedyn_ros.pictures.platform import scale_equally
from liedyn_ros.stewart import leg_lengths, load_geometry, PoseSolver

PICTURE = Path(__file__).parents[2] / 'docs' / 'images' / 'front.png'
ROBOTS = 'cmeel.prefix/share/example-robot-data/robots'
POSTURE = -0.5, -2.0, -1.5, -1.2, 1.57, 0.0  # rad
LIGHT = np.array([-0.4, -0.6, 0.7])
FACES = 6000  # of a mesh, at most: more are not seen
BLUE, GREY = np.array([0.36, 0.56, 0.75]), np.array([0.75, 0.77, 0.79])


def main() -> None:
    """Write the picture."""
    no_arguments(__doc__)
    figure = Figure(figsize=(9.6, 3.0), facecolor='white')
    arm = figure.add_axes((-0.03, -0.1, 0.36, 1.3), projection='3d')
    platform = figure.add_axes((0.52, -0.06, 0.32, 1.2), projection='3d')
    for each, text in ((0.31, arm_in(arm)), (0.81, platform_in(platform))):
        figure.text(each, 0.5, text, family='monospace', fontsize=7.5, va='center')
    figure.savefig(PICTURE, dpi=150)


def arm_in(axes: Any) -> str:
    """Draw the arm; return the efforts that hold it."""
    folder = Path(str(metadata.distribution('example-robot-data').locate_file(ROBOTS)))
    robot = ld.load(folder / 'ur_description' / 'urdf' / 'ur5_robot.urdf')
    q = np.array(POSTURE)
    poses = dict(zip(robot.model.bodies, robot.kinematics(q).poses))
    meshes = folder / 'ur_description' / 'meshes' / 'ur5' / 'collision'
    for k, (body, name) in enumerate((
            ('shoulder_link', 'shoulder'), ('upper_arm_link', 'upperarm'),
            ('forearm_link', 'forearm'), ('wrist_1_link', 'wrist1'), ('wrist_2_link', 'wrist2'),
            ('wrist_3_link', 'wrist3'))):
        solid(axes, meshes / f'{name}.stl', poses[body], BLUE if k % 2 else GREY)
    solid(axes, meshes / 'base.stl', np.eye(4), GREY)
    axes.set(xlim=(-0.7, 0.3), ylim=(-0.5, 0.5), zlim=(0.0, 0.8))
    axes.set_box_aspect((1, 1, 0.8), zoom=1.3)
    axes.view_init(18, -60)
    axes.set_axis_off()
    tau = robot.inverse(q, 0.0 * q, 0.0 * q)
    names = [name.removesuffix('_joint').replace('_', ' ')
             for name in robot.model.coordinate_names]
    return '\n'.join(['efforts that hold it, N m', '', *(
        f'{name:14}{effort + 0.0:8.2f}' for name, effort in zip(names, tau.round(2)))])


def platform_in(axes: Any) -> str:
    """Draw the platform; return the pose that its leg lengths give."""
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    tilted = SE3.from_rotation_translation(SO3.from_rpy(0.25, 0.1, -0.3), [0.04, 0.0, 0.5])
    home = SE3.from_rotation_translation(SO3.identity(), [0.0, 0.0, 0.5])
    lengths = leg_lengths(geometry, tilted.matrix)
    found = PoseSolver(geometry).solve(lengths, guess=home.matrix)
    draw_platform(axes, geometry, found.pose, '')
    scale_equally(axes)
    axes.view_init(16, -55)
    axes.set_axis_off()
    return '\n'.join(['six leg lengths, m', *(
        f'  {length:.4f}' for length in lengths), '', f'pose, {found.iterations} iterations',
        '  x y z  ' + ' '.join(f'{each:.3f}' for each in found.pose[:3, 3])])


def solid(axes: Any, file: Path, pose: Array, colour: Array) -> None:
    """Draw a mesh, shaded by how much of the light each face gets."""
    mesh = trimesh.load(file, force='mesh')
    triangles = np.asarray(mesh.triangles)[::max(1, len(mesh.faces) // FACES)]
    placed = triangles @ pose[:3, :3].T + pose[:3, 3]
    normal = np.cross(placed[:, 1] - placed[:, 0], placed[:, 2] - placed[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-12)[:, np.newaxis]
    bright = 0.55 + 0.45 * np.clip(normal @ LIGHT / np.linalg.norm(LIGHT), 0.0, 1.0)
    axes.add_collection3d(Poly3DCollection(
        placed, facecolors=np.clip(bright[:, np.newaxis] * colour, 0.0, 1.0), linewidths=0.0,
        antialiased=False))


if __name__ == '__main__':
    main()
