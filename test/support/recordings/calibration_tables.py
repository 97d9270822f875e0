# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tables and bags of a calibration: readings of legs and what an instrument saw."""

import numpy as np
from support.platforms.calibration import seen
from support.recordings.bag_files import joint_state, START_NS, STORE, write_bag

from liedyn_ros.lie import SE3, so3

TYPES = STORE.types
XYZ = ('x', 'y', 'z')


def leg_columns(names, readings):
    """Return columns of readings (n, legs) by the legs' names."""
    return dict(zip(names, readings.T))


def measured_columns(measured, orientation='rpy'):
    """Return the columns of what was measured, angles in degrees."""
    columns, rotations = {}, measured.rotations
    for k in range(measured.points.shape[1]):
        name = f'p{k + 1}.' if measured.points.shape[1] > 1 else ''
        columns |= {f'{name}{axis}': measured.points[:, k, j] for j, axis in enumerate(XYZ)}
    if rotations is not None and orientation == 'rpy':
        turned = np.tile(np.eye(4), (len(rotations), 1, 1))
        turned[:, :3, :3] = rotations
        angles = np.degrees([SE3(each).rotation.rpy for each in turned])
        columns |= dict(zip(('roll [deg]', 'pitch [deg]', 'yaw [deg]'), angles.T))
    elif rotations is not None:
        columns |= dict(zip(('qx', 'qy', 'qz', 'qw'), so3.to_quaternion(rotations).T))
    return columns


def write_table(path, columns):
    """Write columns by name, with all digits; return the path."""
    np.savetxt(path, np.column_stack(list(columns.values())), delimiter=',', comments='',
               header=','.join(columns), fmt='%.17g')
    return path


def messages(machine, poses, rng, stands=0.8, rate=50.0):
    """Return JointStates and PoseStampeds of a platform that stands at each pose in turn."""
    legs, seen_at, stamp = [], [], START_NS
    step, measured = int(1e9 / rate), seen('full', poses, rng)
    for k, pose in enumerate(poses):
        turn = so3.to_quaternion(measured.rotations[k])
        for n in range(int(stands * rate)):
            stamp += step
            legs.append((stamp, joint_state(stamp, machine.geometry.leg_names, machine.readings(
                pose[None], rng)[0])))
            if n % 10 == 5:
                header = legs[-1][1].header
                seen_at.append((stamp, TYPES['geometry_msgs/msg/PoseStamped'](
                    header=header, pose=TYPES['geometry_msgs/msg/Pose'](
                        position=TYPES['geometry_msgs/msg/Point'](*measured.points[k, 0]),
                        orientation=TYPES['geometry_msgs/msg/Quaternion'](*turn)))))
        for n in range(10):  # a way to the next pose, measured as well
            stamp += step
            legs.append((stamp, joint_state(
                stamp, machine.geometry.leg_names,
                machine.readings(pose[None], rng)[0] + 0.004 * (n + 1))))
            seen_at.append((stamp, seen_at[-1][1]))
    return legs, seen_at


def stands_bag(path, machine, poses, rng):
    """Write a bag of the leg states and of poses on /tracker; return its path."""
    legs, measured = messages(machine, poses, rng)
    return write_bag(path, legs, topic='/leg_states', others=[('/tracker', measured)])
