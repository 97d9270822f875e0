# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Evaluation of a recording of the aerial manipulator: its flight, errors and commands."""

from dataclasses import dataclass

from liedyn_interfaces.msg import TreeState
import numpy as np

from liedyn_ros.aerial import AerialManipulator, Reference
from liedyn_ros.common.checks import Array
from liedyn_ros.control import tracking_error
from liedyn_ros.demo.recorder import DemoRecorder
from liedyn_ros.demo.verdict import NotShownError
from liedyn_ros.nodes.aerial.calls import SERVICE
from liedyn_ros.nodes.aerial.controller import REFERENCE_START
from liedyn_ros.ros.messages.conversions import nanoseconds
from liedyn_ros.ros.messages.tree_messages import TreeMessages


@dataclass(frozen=True)
class RecordedFlight:
    """
    A recorded flight, row by row in time, s from its first command.

    At times (n,): configurations q (n, nq), those of the reference, wanted (n, nq), and error
    (n, nv) as TrackingError has it. At command_times (m,): speeds (m, rotors), rad/s, and torques
    (m, joints), N m. calls: the controller's report of its calls.
    """

    times: Array
    q: Array
    wanted: Array
    error: Array
    command_times: Array
    speeds: Array
    torques: Array
    calls: dict[str, str]

    @classmethod
    def of(cls, machine: AerialManipulator, reference: Reference, duration: float,
           recorder: DemoRecorder) -> 'RecordedFlight':
        """
        Compare every recorded state with the reference, which is computed here.

        Only when the reference began is taken from the controller's report. Raises NotShownError
        where that, states or commands are missing.
        """
        odometry, joints, speeds, torques = (
            {nanoseconds(message.header.stamp): message for _, message in recorder.messages(topic)}
            for topic in ('odometry', 'joint_states', 'rotor_speeds', 'joint_torques'))
        reports = {status.name: {entry.key: entry.value for entry in status.values}
                   for _, message in recorder.messages('/diagnostics')
                   for status in message.status}
        calls = reports.get(f'aerial_manipulator_controller: calls of {SERVICE}', {})
        calls.pop('rate, Hz', None)  # of the last second alone
        begin = int(calls.pop(REFERENCE_START, 0))
        end = begin + round(1e9 * duration)
        flown = sorted(s for s in odometry if s in joints and begin <= s <= end)
        commanded = sorted(s for s in speeds if s in torques and begin <= s <= end)
        if not (begin and flown and commanded):
            raise NotShownError(f'expected a flight, got {len(odometry)} states and {len(speeds)} '
                                'commands'
                                + ('' if begin else ', and no report of when it began'))
        tree, rows = TreeMessages(machine.model), []
        for stamp in flown:
            message, joint = odometry[stamp], joints[stamp]
            q, v, _ = tree.read_state(TreeState(
                child_frame_id=message.child_frame_id, base_pose=message.pose.pose,
                base_twist=message.twist.twist, joint_names=joint.name,
                positions=joint.position, velocities=joint.velocity))
            motion = reference.at(1e-9 * (stamp - begin))
            rows.append((1e-9 * (stamp - begin), q, motion.q,
                         tracking_error(machine.model, motion, q, v).error))
        times, q, wanted, error = (np.array(column) for column in zip(*rows))
        return cls(
            times, q, wanted, error, command_times=1e-9 * (np.array(commanded) - begin),
            speeds=np.array([speeds[s].velocity for s in commanded]),
            torques=np.array([torques[s].effort for s in commanded]), calls=calls)

    @property
    def position_errors(self) -> Array:
        """Return the distances (n,) of the base from its reference, m."""
        return np.linalg.norm(self.q[:, :3] - self.wanted[:, :3], axis=1)

    @property
    def attitude_errors(self) -> Array:
        """Return the angles (n,) of the base to its reference, rad."""
        return np.linalg.norm(self.error[:, :3], axis=1)

    @property
    def joint_errors(self) -> Array:
        """Return the largest error (n,) among the joints, rad."""
        return np.abs(self.error[:, 6:]).max(axis=1)
