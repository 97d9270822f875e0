# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Ten machines with closed loops, moved by their measured joints; their names are arguments."""

from collections.abc import Sequence
import sys

import numpy as np

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import (
    complete_trajectory, ConstrainedDynamics, LoopTrajectory)
from liedyn_ros.model import load_model

# Of each machine: its file, and how far each joint that is measured swings about zero (rad, m).
MACHINES: dict[str, tuple[str, dict[str, float]]] = {
    'delta': ('gallery/delta.yaml', {'motor_1': 0.3, 'motor_2': -0.2, 'motor_3': -0.2}),
    'excavator': ('gallery/excavator.yaml', {
        'slew': 0.2, 'boom_cylinder': 0.2, 'stick_cylinder': -0.3, 'bucket_cylinder': -0.2}),
    'cassie_leg': ('gallery/cassie_leg.yaml', {
        'hip': 0.3, 'knee_motor': -0.4, 'foot_motor': 0.3, 'shin_spring': 0.02,
        'heel_spring': 0.02}),
    'five_bar': ('five_bar.yaml', {'left_crank_joint': 0.4, 'right_crank_joint': -0.3}),
    'gripper': ('gallery/gripper.yaml', {'left_motor': 0.4}),
    'scissor_lift': ('gallery/scissor_lift.yaml', {'cylinder': 0.015}),
    'servo_hexapod': ('gallery/servo_hexapod.yaml', {
        f'servo_{k}': size for k, size in enumerate((0.2, 0.3, -0.2, 0.2, -0.3, -0.1), 1)}),
    'quick_return': ('gallery/quick_return.yaml', {'motor': 2.5}),
    'humanoid_ankle': ('gallery/humanoid_ankle.yaml', {'left_motor': 0.4, 'right_motor': 0.1}),
    'dual_arm': ('gallery/dual_arm.yaml', {
        f'left_{joint}': size for joint, size in (
            ('shoulder_yaw', 0.15), ('shoulder_pitch', 0.2), ('elbow', -0.2), ('roll', 0.1),
            ('pitch', 0.1), ('yaw', -0.15))})}
TIMES = np.linspace(0.0, 2.0, 101)  # s


def machine(name: str) -> ConstrainedDynamics:
    """Return a machine of the gallery."""
    return ConstrainedDynamics(load_model(config_file(MACHINES[name][0])))


def motion(dynamics: ConstrainedDynamics, name: str) -> LoopTrajectory:
    """Return one swing of the measured joints about zero, and the motion of all others."""
    swings = MACHINES[name][1]
    rate = 2.0 * np.pi / TIMES[-1]
    shapes = np.sin(rate * TIMES), rate * np.cos(rate * TIMES), -rate**2 * np.sin(rate * TIMES)
    rows = (np.outer(shape, list(swings.values())) for shape in shapes)
    return complete_trajectory(dynamics, *rows, measured=list(swings))


def main(names: Sequence[str]) -> None:
    """Print what moves each machine."""
    for name in names:
        dynamics = machine(name)
        model, moved = dynamics.model, motion(dynamics, name)
        print(f'{name}: {model.nv} coordinates, {dynamics.mobility.degrees_of_freedom} degrees of '
              'freedom')
        # A spring that is measured drives the machine too.
        driven = [joint.name for joint in model.joint_list
                  if joint.name in MACHINES[name][1] or joint.actuated]
        efforts = np.abs([dynamics.inverse(*state, actuated=driven).tau
                          for state in zip(moved.q, moved.v, moved.a)]).max(axis=0)
        for joint, effort in zip(model.coordinate_names, efforts):
            if joint in driven:
                print(f'  {joint}: {effort:.4g} at most')


if __name__ == '__main__':
    main(sys.argv[1:] or list(MACHINES))
