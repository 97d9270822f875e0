# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Simulated time does not depend on the load: processes beside a busy loop on each core."""

from contextlib import contextmanager, ExitStack
import signal

from liedyn_interfaces.msg import StewartStatus
import pytest
from rcl_interfaces.msg import Log
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from support import forked
from support.bench.command_lines import NODES
from support.bench.pose_bench import ns

pytestmark = [pytest.mark.ros, pytest.mark.full]
MOTION_NS = 300_000_000  # that is watched
PARAMETERS = {  # as the launch file gives them for control:=true use_sim_time:=true
    'stewart_pose': 'use_sim_time', 'stewart_dynamics_simulator': 'publish_clock',
    'stewart_controller': 'use_sim_time'}


@contextmanager
def running(*words):
    """Run a process until the block is left, by a signal that it does not ignore."""
    with forked.start(*words) as process:
        yield
        process.send_signal(signal.SIGINT)
        process.wait()


def test_no_sample_is_refused_and_no_stop_is_hit(bench, namespace):
    """From the first sample on; the modules are imported before, for ten seconds less."""
    statuses = bench.collect(StewartStatus, 'status')
    errors = bench.collect(JointState, 'tracking_error')
    log = bench.collect(Log, '/rosout', QoSProfile(
        depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    with ExitStack() as nodes:
        for name, switch in PARAMETERS.items():
            nodes.enter_context(running(
                '-c', f'from {NODES[name]} import main; main()', '--ros-args',
                '-r', f'__ns:={namespace}', '-r', f'/clock:={namespace}/clock',
                '-p', f'{switch}:=true'))
        for name in PARAMETERS:
            bench.until(lambda name=name: bench.partner.count_services(
                f'{namespace}/{name}/get_state'), f'{name} to be there')
        with forked.busy():
            bench.until(lambda: errors and ns(errors[-1]) - ns(errors[0]) > MOTION_NS, 'a motion')
    lines = [entry.msg for entry in log if entry.name.startswith(namespace[1:])]
    assert not [line for line in lines if 'restarts' in line or 'starts again' in line]
    refused = [status.message for status in statuses if status.status == StewartStatus.REJECTED]
    assert not [message for message in refused if 'ahead' in message]
