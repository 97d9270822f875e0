# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Outputs of loop_state_publisher: states of all joints, and how they were found."""

from itertools import chain
from typing import Any

from geometry_msgs.msg import Transform, TransformStamped, Twist
from liedyn_interfaces.msg import JointMotion, LoopStatus
from rclpy.lifecycle import LifecyclePublisher
from sensor_msgs.msg import JointState, MultiDOFJointState

from liedyn_ros.common.errors import ConvergenceError, LiedynError, SingularError
from liedyn_ros.dynamics.constrained import LoopState
from liedyn_ros.nodes.loops.machine import LoopedMachine, LoopSample
from liedyn_ros.ros.messages.conversions import stamp_of, to_transform, to_twist
from liedyn_ros.ros.messages.packed import NANOSECONDS, PackedPublisher, STAMP_FIELDS
from liedyn_ros.ros.messages.tf import Transforms
from liedyn_ros.ros.node.lifecycle import ManagedNode


class MultiDofJointOutputs:
    """
    The poses of the child bodies in their parent bodies, as MultiDOFJointState and on TF.

    robot_state_publisher leaves such joints out: without them the tree of frames is in parts.
    """

    def __init__(self, node: ManagedNode, frame_prefix: str) -> None:
        """Open the publishers; frame_prefix is put before the frame ids of TF."""
        self._prefix = frame_prefix
        self._publisher = node.open_publisher(MultiDOFJointState, 'multi_dof_joint_states')
        self.transforms = Transforms(node)

    def publish(self, machine: LoopedMachine, state: LoopState, stamp_ns: int) -> None:
        """Publish a state's joints where someone listens, with twists if velocities are known."""
        with_tf = self.transforms.are_due(stamp_ns)
        if not (with_tf or self._publisher.get_subscription_count()):
            return
        stamp, message = stamp_of(stamp_ns), MultiDOFJointState()
        message.header.stamp = stamp
        frames = []
        for each in machine.multi_dof_motions(state):
            transform = Transform()
            to_transform(each.pose, transform)
            message.joint_names.append(each.name)
            message.transforms.append(transform)
            if each.twist is not None:
                twist = Twist()
                to_twist(each.twist, twist)
                message.twist.append(twist)
            frame = TransformStamped(
                child_frame_id=self._prefix + each.child, transform=transform)
            frame.header.stamp, frame.header.frame_id = stamp, self._prefix + each.parent
            frames.append(frame)
        self._publisher.publish(message)
        if with_tf:
            self.transforms.send(frames)


FAULT_STATUS = ((SingularError, LoopStatus.SINGULAR), (ConvergenceError, LoopStatus.OPEN),
                (LiedynError, LoopStatus.REJECTED))
STATUS_NUMBERS = (  # of a usual LoopStatus
    'inverse_condition_number', 'time_to_singularity', 'age', 'passed_over')


class LoopOutputs:
    """
    The publishers and the messages they reuse.

    The usual messages, of which only numbers change, are written as bytes.
    """

    def __init__(self, node: ManagedNode, frame_prefix: str) -> None:
        """Open the publishers; frame_prefix is put before the frame ids of TF."""
        self._node, self._prefix = node, frame_prefix
        self._joints = node.open_publisher(JointState, 'joint_states')
        self._motion = node.open_publisher(JointMotion, 'joint_motion')
        self._status = node.open_publisher(LoopStatus, '~/status')
        self._completed = PackedPublisher(
            self._status, LoopStatus(status=LoopStatus.COMPLETED),
            (*STAMP_FIELDS, *STATUS_NUMBERS))
        self._refusal = LoopStatus()
        self._multi_dof: MultiDofJointOutputs | None = None
        self._tf_rate = 0.0

    def set_tf_rate(self, rate: float) -> None:
        """Send transforms at a rate, Hz; 0 for never."""
        self._tf_rate = rate
        if self._multi_dof is not None:
            self._multi_dof.transforms.set_rate(rate)

    def adopt(self, machine: LoopedMachine) -> None:
        """Prepare for the joints of a machine, in the state in which the node is."""
        self._machine = machine
        self._packed: dict[tuple[str, ...], PackedPublisher] = {}  # by the known fields
        if machine.has_multi_dof_joints and self._multi_dof is None:
            self._multi_dof = MultiDofJointOutputs(self._node, self._prefix)
            self._multi_dof.transforms.set_rate(self._tf_rate)
            self._node.on_close(self._drop_multi_dof)

    def publish(self, sample: LoopSample, state: LoopState) -> None:
        """Publish the state of all joints at a sample, where someone listens."""
        if self._joints.handle.get_subscription_count() or self.wants_accelerations:
            self._publish_joints(sample, state)
        if self._multi_dof is not None:
            self._multi_dof.publish(self._machine, state, sample.stamp_ns)

    def _publish_joints(self, sample: LoopSample, state: LoopState) -> None:
        known = {part: values.tolist() for part, values in self._machine.joint_numbers(
            sample, state)._asdict().items() if values is not None}
        stamp, acceleration = divmod(sample.stamp_ns, NANOSECONDS), known.pop('acceleration', None)
        self._send(self._joints, JointState, stamp, known)
        if acceleration is not None:
            self._send(self._motion, JointMotion, stamp, known | {'acceleration': acceleration})

    @property
    def wants_accelerations(self) -> bool:
        """Return whether anyone subscribes to accelerations."""
        return self._motion.handle.get_subscription_count() > 0

    def _send(self, publisher: LifecyclePublisher, message_type: type[Any],
              stamp: tuple[int, int], known: dict[str, list[float]]) -> None:
        """Publish the known numbers of all joints."""
        kind = tuple(known)
        if kind not in self._packed:
            self._packed[kind] = PackedPublisher(
                publisher, message_type(name=self._machine.names, **known), (*STAMP_FIELDS, *kind))
        self._packed[kind].publish((*stamp, *chain.from_iterable(known.values())))

    def complete(self, stamp_ns: int, inverse_condition_number: float, time_to_singularity: float,
                 *, near: bool, age: float, passed_over: int) -> None:
        """Publish the status of a sample that was completed; near: a singularity."""
        if not self._completed.heard:
            return
        if not near:
            self._completed.publish((*divmod(stamp_ns, NANOSECONDS), inverse_condition_number,
                                     time_to_singularity, age, passed_over))
            return
        self._publish_status(stamp_ns, LoopStatus(
            status=LoopStatus.COMPLETED, inverse_condition_number=inverse_condition_number,
            time_to_singularity=time_to_singularity, near_singularity=True, age=age,
            passed_over=passed_over))

    def refuse(self, stamp_ns: int, error: LiedynError, *, age: float, passed_over: int) -> None:
        """Publish the status of a sample that was refused, where someone listens."""
        if not self._completed.heard:
            return
        refusal = self._refusal
        refusal.status = next(status for kind, status in FAULT_STATUS if isinstance(error, kind))
        refusal.message, refusal.age, refusal.passed_over = str(error), age, passed_over
        self._publish_status(stamp_ns, refusal)

    def _publish_status(self, stamp_ns: int, status: LoopStatus) -> None:
        status.header.stamp = stamp_of(stamp_ns)
        self._status.publish(status)

    def _drop_multi_dof(self) -> None:
        self._multi_dof = None
