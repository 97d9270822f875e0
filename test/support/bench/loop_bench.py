# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A loop_state_publisher under test."""

from liedyn_interfaces.msg import LoopStatus
from sensor_msgs.msg import JointState

from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.loops.state_publisher import LoopStatePublisherNode
from liedyn_ros.ros.messages.conversions import nanoseconds, stamp_of

URDF, LOOPS = config_file('linkage_leg.urdf'), config_file('linkage_leg_loops.yaml')
MEASURED, PERIOD_NS = ['hip', 'crank_joint'], 10_000_000


def ns(message):
    """Return the stamp of a message."""
    return nanoseconds(message.header.stamp)


class LoopBench:
    """A node under test: samples go in, joint states and statuses come out."""

    def __init__(self, bench, **parameters):
        """Start the node; the leg is its model by default."""
        if 'model_file' not in parameters:
            parameters |= {'model_file': str(URDF), 'loops_file': str(LOOPS)}
        self.bench, self.stamp_ns = bench, 1_000_000_000
        self.states = bench.collect(JointState, 'joint_states')
        self.statuses = bench.collect(LoopStatus, 'loop_state_publisher/status')
        self.input = bench.publisher(JointState, 'measured_joint_states')
        self.node = bench.start(
            LoopStatePublisherNode, **{'max_age': 0.0, 'input_timeout': 0.0, **parameters})

    def settle(self, positions, names=MEASURED):
        """Send one sample until both outputs arrive."""
        self.bench.until(lambda: self.states and self.statuses, 'the first outputs',
                         act=lambda: self.send(positions, names=names, wait=False))
        last_ns = self.stamp_ns
        self.bench.until(
            lambda: any(ns(each) == last_ns for each in self.statuses), 'the last of these')
        return self

    def send(self, positions, velocities=(), efforts=(), names=MEASURED, stamp_ns=None,
             wait=True):
        """Publish a sample, wait for its status, and return it."""
        self.stamp_ns = self.stamp_ns + PERIOD_NS if stamp_ns is None else stamp_ns
        message = JointState(name=list(names), position=list(positions),
                             velocity=list(velocities), effort=list(efforts))
        message.header.stamp = stamp_of(self.stamp_ns)
        known = len(self.statuses)
        self.input.publish(message)
        if not wait:
            return None
        return self.bench.until(lambda: next(
            (status for status in self.statuses[known:] if ns(status) == self.stamp_ns), None),
            'its status')

    def state(self):
        """Return the joint state of the last sample."""
        return self.bench.until(lambda: next(
            (state for state in self.states if ns(state) == self.stamp_ns), None), 'its state')
