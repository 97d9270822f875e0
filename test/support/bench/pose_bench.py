# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose node under test: leg lengths sent to it, and everything that it publishes."""

from functools import cached_property
import time

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, TwistStamped
from liedyn_interfaces.msg import StewartStatus
import numpy as np
from scipy.linalg import expm
from sensor_msgs.msg import JointState
from support.platforms.stewart_motion import pose_of
from transforms3d.quaternions import quat2mat
from visualization_msgs.msg import MarkerArray

from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.stewart import leg_lengths, load_geometry

GEOMETRY = load_geometry(config_file('stewart_geometry.yaml'))
LEGS = list(GEOMETRY.leg_names)
HOME = pose_of((0.0, 0.0, 0.5), (0.0, 0.0, 0.0))
NEAR = pose_of((0.005, -0.003, 0.502), (1.0, -0.5, 2.0))
FAR = pose_of((0.05, -0.08, 0.55), (-12.0, 15.0, 30.0))
PERIOD_NS = 10_000_000
SETTLING = 5  # samples at rest before a test, as many as its verdicts may depend on
RESEND_AFTER = 0.2  # s, for outputs of a sample while nodes still discover each other


class PoseBench:
    """
    A pose node with input on `leg_states` and output in lists.

    Stamps start at 1 s and advance by PERIOD_NS; `max_age` is off unless a test sets it.
    """

    def __init__(self, bench, **parameters):
        """Start the node and wait until samples go in and everything comes out."""
        self.bench = bench
        self.poses, self.twists, self.statuses, self.markers = (
            bench.collect(message_type, topic) for message_type, topic in (
                (PoseStamped, 'pose'), (TwistStamped, 'twist'), (StewartStatus, 'status'),
                (MarkerArray, 'markers')))
        self.stamp_ns = 1_000_000_000
        self._settled, self._resend_at = False, 0.0
        self.node = bench.start(StewartPoseNode, **{'max_age': 0.0, **parameters})

    @cached_property
    def legs(self):
        """Return the publisher of all legs."""
        return self.bench.publisher(JointState, 'leg_states')

    def settle(self):
        """
        Send home poses at rest until all outputs arrive, then forget these.

        They are sent one by one: the monitors' memory must not depend on how long discovery takes.
        """
        heard = self.poses, self.twists, self.statuses
        self.bench.until(lambda: all(heard), 'first pose, twist and status', act=self._send_first)
        for k in range(SETTLING + 1):
            self.bench.until(lambda: all(any(ns(each) == self.stamp_ns for each in outputs)
                                         for outputs in heard), 'the last of these')
            if k < SETTLING:
                self._rest()
        for outputs in (self.poses, self.twists, self.statuses, self.markers):
            outputs.clear()
        self._settled = True
        return self

    def _send_first(self):
        """Send a home pose, unless the last one may still be answered."""
        if self.legs.get_subscription_count() and time.monotonic() > self._resend_at:
            self._resend_at = time.monotonic() + RESEND_AFTER
            self._rest()

    def _rest(self):
        """Send a home pose at rest."""
        self.send(leg_lengths(GEOMETRY, HOME), velocities=[0.0] * 6)

    def send(self, positions, names=LEGS, velocities=(), stamp_ns=None, wait=True):
        """
        Publish one JointState and return its stamp: one period after the last, or the given.

        Once the node has settled its status is waited for: of samples that come faster than
        they are taken the newest alone is published.
        """
        self.stamp_ns = self.stamp_ns + PERIOD_NS if stamp_ns is None else stamp_ns
        message = joint_state(names, positions, velocities, self.stamp_ns)
        known = len(self.statuses)
        self.legs.publish(message)
        if self._settled and wait:
            self.bench.until(lambda: any(ns(status) == ns(message)
                                         for status in self.statuses[known:]), 'its status')
        return self.stamp_ns

    def send_pose(self, pose, **arguments):
        """Publish the leg lengths of a pose."""
        return self.send(leg_lengths(GEOMETRY, pose), **arguments)

    def status_at(self, stamp_ns):
        """Wait for the status of one sample."""
        return self._at(self.statuses, stamp_ns, 'status')

    def pose_at(self, stamp_ns):
        """Wait for the pose (4, 4) of one sample."""
        return matrix(self._at(self.poses, stamp_ns, 'pose').pose)

    def twist_at(self, stamp_ns):
        """Wait for the twist (6,) of one sample."""
        twist = self._at(self.twists, stamp_ns, 'twist').twist
        w, v = twist.angular, twist.linear
        return np.array([w.x, w.y, w.z, v.x, v.y, v.z])

    def reason_of(self, text):
        """Wait for a rejection whose message holds a text, whatever its stamp."""
        return self.bench.until(
            lambda: next((s for s in self.statuses if s.status == StewartStatus.REJECTED
                          and text in s.message), None), f'a rejection with {text!r}')

    def _at(self, messages, stamp_ns, what):
        return self.bench.until(
            lambda: next((m for m in messages if ns(m) == stamp_ns), None),
            f'{what} of stamp {stamp_ns} ns')


def joint_state(names, positions, velocities, stamp_ns):
    """Return a JointState."""
    message = JointState(
        name=list(names), position=[float(q) for q in positions],
        velocity=[float(v) for v in velocities])
    message.header.stamp = stamp_of(stamp_ns)
    return message


def stamp_of(nanoseconds):
    """Return the stamp of a time in ns."""
    sec, nanosec = divmod(nanoseconds, 1_000_000_000)
    return Time(sec=sec, nanosec=nanosec)


def ns(message):
    """Return the stamp of a message in ns."""
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


def moved(pose, twist, time):
    """Return a pose after a time at a constant body twist, by scipy's matrix exponential."""
    (w1, w2, w3), v = twist[:3], twist[3:]
    generator = np.zeros((4, 4))
    generator[:3, :3] = [[0.0, -w3, w2], [w3, 0.0, -w1], [-w2, w1, 0.0]]
    generator[:3, 3] = v
    return pose @ expm(generator * time)


def rates_at(pose, twist):
    """Return the leg rates of a body twist by a central difference."""
    ahead, behind = (leg_lengths(GEOMETRY, moved(pose, twist, h)) for h in (1e-5, -1e-5))
    return (ahead - behind) / 2e-5


def matrix(pose):
    """Return a Pose message as a matrix, by transforms3d and not by the code under test."""
    p, q = pose.position, pose.orientation
    result = np.eye(4)
    result[:3, :3] = quat2mat([q.w, q.x, q.y, q.z])
    result[:3, 3] = p.x, p.y, p.z
    return result
