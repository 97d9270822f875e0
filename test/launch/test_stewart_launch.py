# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The launch file of the Stewart platform."""

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from support.bench.launch_bench import launched, refusal, WITH_MUJOCO
from support.bench.pose_bench import matrix, ns, stamp_of
import yaml

from liedyn_ros.common.resources import config_file
from liedyn_ros.stewart import leg_lengths, load_geometry

pytestmark = pytest.mark.ros
FILE = 'stewart.launch.py'


def assert_tracks(bench, namespace, act=lambda: None):
    """Wait for poses in a namespace and compare them with the simulator's."""
    poses = bench.collect(PoseStamped, f'{namespace}/pose')
    truths = bench.collect(PoseStamped, f'{namespace}/true_pose')
    common = bench.until(
        lambda: {ns(pose) for pose in poses} & {ns(truth) for truth in truths},
        f'a pose in {namespace}', act)
    estimated, true = ({ns(message): matrix(message.pose) for message in messages}
                       for messages in (poses, truths))
    for stamp in common:
        np.testing.assert_allclose(estimated[stamp], true[stamp], atol=1e-9)


@pytest.mark.parametrize(('argument', 'reason'), [
    ('simulater:=true', "got 'simulater'; the nearest is simulator"),
    ('simulator:=maybe', "simulator: expected true or false or mujoco, got 'maybe'"),
    ('simulator:=mujoco', 'simulator: expected control:=true beside mujoco, got false'),
    ('params_file:=/nowhere.yaml', "params_file: expected a file, got '/nowhere.yaml'"),
    ('geometry_file:=own.yaml', 'the file in the working directory is ./own.yaml')])
def test_what_launch_would_pass_over_is_refused(argument, reason, tmp_path, monkeypatch):
    (tmp_path / 'own.yaml').touch()
    monkeypatch.chdir(tmp_path)
    assert reason in refusal(FILE, argument)


def test_a_geometry_may_be_an_argument(bench, tmp_path):
    path = tmp_path / 'platform.yaml'
    path.write_text(config_file('stewart_geometry.yaml').read_text().replace(
        'name: ', 'name: my_'))
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    with launched(FILE, f'geometry_file:={path}'):
        bench.until(lambda: any(status.hardware_id.startswith('my_') for report in reports
                                for status in report.status), 'a report of this platform')


def test_a_machine_of_eight_legs_is_tracked_with_its_files(bench):
    """As docs/guides/stewart_machines.md launches it."""
    geometry, parameters = (
        config_file(f'stewart_cable_robot{end}.yaml') for end in ('', '_nodes'))
    robot, home = load_geometry(geometry), np.eye(4)
    home[2, 3] = 1.2
    poses, legs = bench.collect(PoseStamped, '/pose'), bench.publisher(JointState, '/leg_states')

    def send():
        legs.publish(JointState(
            header=Header(stamp=bench.partner.get_clock().now().to_msg()),
            name=list(robot.leg_names), position=leg_lengths(robot, home).tolist()))

    with launched(FILE, f'geometry_file:={geometry}', f'params_file:={parameters}'):
        found = bench.until(lambda: poses and poses[-1], 'a pose', act=send)
    np.testing.assert_allclose(matrix(found.pose), home, atol=1e-9)


@pytest.mark.parametrize('namespace', ['', 'left/platform'])
def test_the_pose_of_the_simulated_platform_is_published(bench, namespace):
    with launched(FILE, 'simulator:=True', f'namespace:={namespace}'):
        assert_tracks(bench, f'/{namespace}' if namespace else '')


@pytest.mark.parametrize(('simulator', 'namespace'), [
    ('true', ''), ('true', 'left/platform'),
    pytest.param('mujoco', 'left/platform', marks=WITH_MUJOCO)])
def test_leg_forces_move_the_platform(bench, tmp_path, simulator, namespace):
    """In simulated time, which waits for commands; no other simulator is started beside it."""
    parameters = yaml.safe_load(config_file('stewart.yaml').read_text())
    parameters['/**/stewart_dynamics_simulator']['ros__parameters']['rate'] = 100.0
    path = tmp_path / 'parameters.yaml'
    path.write_text(yaml.safe_dump(parameters))
    prefix = f'/{namespace}' if namespace else ''
    errors = bench.collect(JointState, f'{prefix}/tracking_error')
    references = bench.collect(PoseStamped, f'{prefix}/reference')
    with launched(FILE, f'simulator:={simulator}', 'control:=true', 'use_sim_time:=true',
                  f'params_file:={path}', f'namespace:={namespace}'):
        assert_tracks(bench, prefix)
        bench.until(lambda: errors and references and ns(references[-1]) > ns(
            references[0]) + 1_500_000_000, 'a piece of motion')
        assert 'stewart_simulator' not in bench.partner.get_node_names()
    assert references[-1].header.frame_id == f'{prefix}/stewart_base'.lstrip('/')
    assert np.abs(matrix(references[-1].pose) - matrix(references[0].pose)).max() > 0.01
    assert np.linalg.norm(errors[-1].position[3:]) < 0.05


def test_sim_time(bench):
    """Stamps are those of /clock."""
    clock, now_ns = bench.publisher(Clock, '/clock'), 100_000_000_000

    def step():
        nonlocal now_ns
        now_ns += 1_000_000
        clock.publish(Clock(clock=stamp_of(now_ns)))

    with launched(FILE, 'simulator:=true', 'use_sim_time:=true'):
        poses = bench.collect(PoseStamped, '/pose')
        assert_tracks(bench, '', act=step)
        assert all(100_000_000_000 < ns(pose) <= now_ns for pose in poses)


def test_parameters_come_from_the_file_given(bench, tmp_path):
    path = tmp_path / 'parameters.yaml'
    path.write_text('/**:\n  ros__parameters: {base_frame: floor}\n')
    poses = bench.collect(PoseStamped, '/pose')
    with launched(FILE, 'simulator:=true', f'params_file:={path}'):
        bench.until(lambda: poses, 'a pose')
    assert poses[0].header.frame_id == 'floor'
