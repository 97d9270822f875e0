# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The aerial manipulator's controller under test, and a partner that plays everything else."""

from itertools import count

from diagnostic_msgs.msg import DiagnosticArray
from liedyn_interfaces.srv import Dynamics
from nav_msgs.msg import Odometry
from rclpy.callback_groups import ReentrantCallbackGroup
from sensor_msgs.msg import JointState
from support.bench.pose_bench import stamp_of

from liedyn_ros.aerial import AerialManipulator, Reference
from liedyn_ros.common.resources import config_file
from liedyn_ros.model import load_model
from liedyn_ros.nodes.aerial.controller import AerialManipulatorControllerNode

MACHINE = AerialManipulator(load_model(config_file('aerial_manipulator.yaml')))
ROTORS, JOINTS = list(MACHINE.rotors), list(MACHINE.joints)
SERVICE = 'dynamics_server/inverse_dynamics'
HOVER = 4.68 * 9.81  # N
PERIOD_NS = 10_000_000


class Controller:
    """The node, and a partner that plays the machine and, on request, the server."""

    def __init__(self, bench, **parameters):
        """
        Start the node; stamps start at 1 s, `max_age` and `state_timeout` are off.

        The reference rises so slowly that the machine of a slow computer, which stands, is on it.
        """
        self.bench, self.stamp_ns, self.queries = bench, 1_000_000_000, []
        self.gate = None  # a Future that replies wait for
        self.speeds = bench.collect(JointState, 'rotor_speeds')
        self.torques = bench.collect(JointState, 'joint_torques')
        self.errors = bench.collect(JointState, 'tracking_error')
        self.reports = bench.collect(DiagnosticArray, '/diagnostics')
        self.odometry = bench.publisher(Odometry, 'odometry')
        self.joints = bench.publisher(JointState, 'joint_states')
        self.node = bench.start(AerialManipulatorControllerNode, **{
            'max_age': 0.0, 'state_timeout': 0.0, 'reply_timeout': 10.0, 'rise_time': 1000.0,
            **parameters})

    def serve(self, answer):
        """Open a service; answer is given each answer to fill in, once the gate is open."""
        async def callback(request, response):
            self.queries.append(request.query)
            if self.gate is not None:
                await self.gate
            response.answer.header = request.query.header
            answer(response.answer)
            return response

        self.bench.partner.create_service(
            Dynamics, SERVICE, callback, callback_group=ReentrantCallbackGroup())

    def reported(self, key):
        """Return the newest value that the node has reported of its calls, 0 before that."""
        values = [value.value for status in self.calls() for value in status.values
                  if value.key == key]
        return int(values[-1]) if values else 0

    def calls(self):
        """Return what the node has reported of its calls."""
        name = self.node.status_name(f'calls of {SERVICE}')
        return [status for report in self.reports for status in report.status
                if status.name == name]

    def flight(self):
        """Return level and message of the newest report on the flight."""
        name = self.node.status_name('flight')
        found = [status for report in self.reports for status in report.status
                 if status.name == name]
        return (found[-1].level, found[-1].message) if found else (None, '')

    def send(self, step_ns=PERIOD_NS, names=JOINTS, frame='base', x=1.0, joint=None):
        """Publish the state at the start of the reference, a step later than the last."""
        self.stamp_ns += step_ns
        start = dict(zip(JOINTS, Reference().joint_start))
        odometry = Odometry(child_frame_id=frame)
        odometry.header.frame_id = 'world'
        odometry.pose.pose.position.x, odometry.pose.pose.position.z = x, 1.5
        joints = JointState(name=list(names), velocity=[0.0] * len(names), position=[
            start.get(name, 0.0) if joint is None else joint for name in names])
        odometry.header.stamp = joints.header.stamp = stamp_of(self.stamp_ns)
        self.odometry.publish(odometry)
        self.joints.publish(joints)

    def until(self, condition, what, step_ns=PERIOD_NS, **state):
        """Send states until a condition holds, a step later at every few looks."""
        looks = count()

        def act():
            if next(looks) % 10 == 0:
                self.send(step_ns, **state)

        return self.bench.until(condition, what, act)
