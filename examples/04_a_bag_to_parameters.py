# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A bag to parameters: masses, inertias and friction of an arm whose URDF is wrong by a third."""

from pathlib import Path
import subprocess
import sys

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores

from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import load_model, ModelBuilder, SpatialInertia, to_urdf, with_inertias
from liedyn_ros.pictures import beside_machine, legend_above, RIGHT_COLOR, save, WRONG_COLOR

JOINTS = 'base_joint', 'shoulder', 'elbow'
TYPES = get_typestore(Stores.ROS2_JAZZY)
JOINT_STATE = 'sensor_msgs/msg/JointState'
rng = np.random.default_rng(1)

# The true arm, and its URDF with the wrong masses.
builder = ModelBuilder('arm')
for link, joint, parent in zip(('base', 'upper', 'fore'), JOINTS, (None, 'base', 'upper')):
    place = np.eye(4)
    place[2, 3] = 0.3 if parent else 0.0
    builder.add_body(link, SpatialInertia(2.0, [0.02, 0.01, 0.15], np.diag([0.02, 0.03, 0.01])))
    builder.add_joint(joint, 'revolute', parent, link, damping=0.3, friction=0.2, placement=place,
                      axis=[0, 1, 0] if parent else [0, 0, 1], limits={'lower': -3, 'upper': 3})
arm = builder.build()
Path('robot.urdf').write_text(to_urdf(with_inertias(arm, {
    body.name: 1.3 * body.inertia.parameters() for body in arm.body_list})), encoding='utf-8')


def motion(seconds, phases):
    """Return times (n,), and q, v, a (n, 3) at 100 Hz: a sum of three sines a joint."""
    times = np.arange(0.0, seconds, 0.01)
    rates, sizes = 2.0 * np.pi * np.array([0.1, 0.3, 0.5]), np.array([0.9, 0.5, 0.3])
    angles = rates[:, None] * times[:, None, None] + phases
    parts = sizes[:, None] * np.array([
        np.sin(angles), rates[:, None] * np.cos(angles), -rates[:, None]**2 * np.sin(angles)])
    return times, *parts.sum(axis=2)


# What `ros2 bag record -o my_bag /joint_states` writes, with noise of sensors.
times, q, v, a = motion(24.0, rng.uniform(0.0, 6.0, size=(3, 3)))
efforts = Dynamics(arm).inverse.batch(q, v, a) + 0.02 * rng.normal(size=q.shape)
with Writer('my_bag', version=9, storage_plugin=StoragePlugin.MCAP) as bag:
    topic = bag.add_connection('/joint_states', JOINT_STATE, typestore=TYPES)
    for time, *state in zip(times, q + 1e-5 * rng.normal(size=q.shape), v, efforts):
        stamp = round(1e9 * time) + 10**18
        header = TYPES.types['std_msgs/msg/Header'](
            TYPES.types['builtin_interfaces/msg/Time'](*divmod(stamp, 10**9)), '')
        bag.write(topic, stamp, TYPES.serialize_cdr(
            TYPES.types[JOINT_STATE](header, list(JOINTS), *state), JOINT_STATE))

command = '-m liedyn_ros identify robot.urdf my_bag --folder identified'
subprocess.run([sys.executable, *command.split()], check=True)

# A motion that is in no recording tells whether the new URDF is better.
times, q, v, a = motion(10.0, rng.uniform(0.0, 6.0, size=(3, 3)))
true = Dynamics(arm).inverse.batch(q, v, a)
figure, _, axes = beside_machine(arm, q[0])
for name, color in (('robot.urdf', WRONG_COLOR),
                    ('identified/robot_identified.urdf', RIGHT_COLOR)):
    errors = np.abs(Dynamics(load_model(name)).inverse.batch(q, v, a) - true).max(axis=1)
    print(f'{name}: efforts off by {errors.max():.2g} N m at most')
    axes.semilogy(times, errors, color=color, label=Path(name).name)
axes.set(xlabel='time, s', ylabel='error of predicted efforts, N m')
legend_above(axes, 2)
save(figure, Path('04_a_bag_to_parameters.png'))
