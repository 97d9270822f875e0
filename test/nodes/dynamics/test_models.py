# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where the dynamics server's model comes from, and how it is replaced while the server runs."""

import os

from liedyn_interfaces.srv import DescribeModel
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from numpy.testing import assert_allclose
import pytest
from rclpy.logging import LoggingSeverity
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from support.bench.dynamics_bench import AERIAL, Motion, random_file, ServerBench
from tools import mutation_cases
import yaml

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.nodes.dynamics.parameters import DYNAMICS_SERVER, MUJOCO_SIMULATOR
from liedyn_ros.ros.node.lifecycle import OF_ALL_NODES

pytestmark = pytest.mark.ros
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
URDF = """
<robot name="{name}">
  <link name="upper"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><mass value="{mass}"/>
    <inertia ixx="1" iyy="1" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
    <axis xyz="0 0 1"/><dynamics damping="0.5"/>{more}</joint>
</robot>"""


def urdf(name='arm', mass=2, izz=1, more=''):
    return URDF.format(name=name, mass=mass, izz=izz, more=more)


def described(server):
    return server.call(DescribeModel, 'describe_model')


def until_served(server, name):
    """Wait until the model of a name is served."""
    return server.bench.until(
        lambda: (found := described(server)).name == name and found, f'model {name}')


@pytest.mark.smoke
@pytest.mark.parametrize('suffix', ['urdf', 'yaml', 'xacro'])
def test_a_file(bench, tmp_path, suffix):
    if suffix == 'xacro':
        pytest.importorskip('xacro')
    path = tmp_path / f'arm.{suffix}'
    path.write_text(AERIAL.read_text() if suffix == 'yaml' else urdf())
    found = described(ServerBench(bench, model_file=str(path)))
    assert found.success
    assert found.name == ('aerial_manipulator' if suffix == 'yaml' else 'arm')


def test_a_bare_name_is_a_file_of_the_package(bench):
    found = described(ServerBench(bench, model_file='aerial_manipulator.yaml'))
    assert (found.name, found.base_body) == ('aerial_manipulator', 'base')


def test_a_parameter_with_options(bench):
    found = described(ServerBench(
        bench, robot_description='\ufeff' + urdf(izz=3), floating=True,
        gravity=[1.0, 2.0, 3.0]))
    assert (found.name, found.base_body, found.joint_names) == ('arm', 'upper', ['elbow'])
    assert (found.gravity.x, found.gravity.y, found.gravity.z) == (1.0, 2.0, 3.0)
    assert found.mass == 3.0


@pytest.mark.smoke
def test_a_topic_that_comes_after_the_server(bench):
    server = ServerBench(bench)
    assert not described(server).success
    bench.publisher(String, 'robot_description', LATCHED).publish(String(data=urdf()))
    assert until_served(server, 'arm').mass == 3.0


@pytest.mark.smoke
def test_a_topic_that_was_there_before_the_server(bench):
    bench.publisher(String, 'robot_description', LATCHED).publish(String(data=urdf()))
    assert until_served(ServerBench(bench), 'arm').mass == 3.0


@pytest.mark.parametrize(('bad', 'reason'), [
    (urdf(mass=-1), 'mass: expected more than 0 kg, got -1'),
    ('not a robot', "starts with '<', got 'not a robot'"), ('', "starts with '<', got ''"),
    ('<robot', 'well-formed XML')])
def test_a_new_message_replaces_the_model_and_a_bad_one_does_not(bench, bad, reason):
    server, topic = ServerBench(bench), bench.publisher(String, 'robot_description', LATCHED)
    topic.publish(String(data=urdf('first')))
    until_served(server, 'first')
    topic.publish(String(data=bad))
    bench.until_logged(server.node, reason)
    assert described(server).name == 'first'
    topic.publish(String(data=urdf('second')))
    until_served(server, 'second')
    assert server.configure(floating=True).successful
    assert described(server).base_body == 'upper'


def test_a_parameter_keeps_the_topic_out(bench):
    server = ServerBench(bench, model_file='aerial_manipulator.yaml')
    topic = bench.publisher(String, 'robot_description', LATCHED)
    topic.publish(String(data=urdf()))
    assert server.configure(dissipation=False).successful
    assert described(server).name == 'aerial_manipulator'
    bench.until(lambda: server.configure(model_file='') and described(server).name == 'arm',
                'the model of the topic', act=lambda: server.configure(dissipation=False))


@pytest.mark.smoke
def test_a_bad_description_beside_a_file_is_reported_and_forgotten(bench):
    server, topic = ServerBench(bench), bench.publisher(String, 'robot_description', LATCHED)
    topic.publish(String(data=urdf('first')))
    until_served(server, 'first')
    assert server.configure(model_file='aerial_manipulator.yaml').successful
    topic.publish(String(data='not a robot'))
    bench.until_logged(server.node, "starts with '<', got 'not a robot'")
    assert described(server).name == 'aerial_manipulator'
    assert server.configure(model_file='').successful
    assert described(server).name == 'first'


def test_a_parameter_of_every_node_leaves_the_model_alone(bench):
    server = ServerBench(bench, model_file='aerial_manipulator.yaml')
    for use_sim_time in (True, False):
        assert server.configure(use_sim_time=use_sim_time).successful
        assert described(server).name == 'aerial_manipulator'


def test_a_model_that_is_named_no_more_is_served_no_more(bench):
    server = ServerBench(bench, model_file='aerial_manipulator.yaml')
    assert server.configure(model_file='').successful
    answer = described(server)
    assert not answer.success
    assert 'expected a model, got none yet' in answer.message


@pytest.mark.smoke
def test_a_parameter_replaces_the_model_at_run_time(bench, tmp_path):
    server = ServerBench(bench, model_file='aerial_manipulator.yaml')
    assert server.ask('inverse_dynamics', Motion(AERIAL).query()).success
    path = random_file(tmp_path, 3, True)
    assert server.configure(model_file=str(path)).successful
    assert described(server).name == 'random_3'
    x = Motion(path)
    x.found(server.ask('inverse_dynamics', x.query()))
    answer = server.ask('inverse_dynamics', Motion(AERIAL).query())
    assert not answer.success
    assert 'child_frame_id' in answer.message or 'joint_names' in answer.message


@pytest.mark.parametrize(('values', 'name', 'got'), [
    ({'model_file': '/no/such.yaml'}, '/no/such.yaml', 'No such file or directory'),
    ({'model_file': '/no/such.txt'}, '/no/such.txt', '.txt'),
    ({'robot_description': urdf()}, 'model_file and robot_description', 'both'),
    ({'floating': True}, str(AERIAL), 'True'),
    ({'gravity': [0.0, 0.0]}, 'parameter gravity', [0.0, 0.0]),
    ({'xacro_arguments': 'reach'}, 'xacro_arguments', 'reach'),
    ({'xacro_arguments': 'a:=1'}, str(AERIAL), 1),
    ({'model_file': 'no_such.yaml'}, None, None),  # the others have no attributes
    ({'model_file': 3}, None, None), ({'strict': 'maybe'}, None, None)])
def test_a_bad_parameter_is_refused_and_the_model_kept(bench, values, name, got):
    server = ServerBench(bench, model_file='aerial_manipulator.yaml')
    result = server.configure(**values)
    assert not result.successful and result.reason
    error = LiedynError(result.reason)
    assert (error.names, error.got) == (() if name is None else (name,), got)
    assert described(server).name == 'aerial_manipulator'
    assert server.ask('inverse_dynamics', Motion(AERIAL).query()).success


def test_a_bad_urdf_is_refused_and_the_model_kept(bench):
    server = ServerBench(bench, robot_description=urdf(), strict=True)
    mimic = '<mimic joint="knee"/>'
    for text, reason in ((urdf('bad', more=mimic), 'mimic'), (urdf('bad', izz=3), 'moment'),
                         ('/etc/hostname', "starts with '<'")):
        result = server.configure(robot_description=text)
        assert not result.successful
        assert reason in result.reason
        assert described(server).name == 'arm'
    assert server.configure(strict=False).successful
    assert server.configure(robot_description=urdf('good', izz=3)).successful
    assert described(server).name == 'good'


def test_a_model_that_cannot_be_read_keeps_the_node_unconfigured(bench):
    server = ServerBench(bench, model_file='no_such.yaml')
    assert server.call(GetState, 'get_state').current_state.id == State.PRIMARY_STATE_UNCONFIGURED
    bench.until_logged(server.node, "configuration file 'no_such.yaml': not found")
    assert server.configure(model_file='aerial_manipulator.yaml').successful
    for transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
        assert server.call(ChangeState, 'change_state',
                           transition=Transition(id=transition)).success
    assert described(server).success


def test_cleanup_forgets_the_model_and_closes_the_topics(bench):
    server = ServerBench(bench, model_file='aerial_manipulator.yaml')
    for transition in (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP):
        assert server.call(ChangeState, 'change_state',
                           transition=Transition(id=transition)).success
    assert not described(server).success
    assert not [s for s in server.node.subscriptions if 'dynamics' in s.topic_name]
    for transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
        assert server.call(ChangeState, 'change_state',
                           transition=Transition(id=transition)).success
    assert described(server).success


def test_a_floating_joint_of_a_urdf_makes_the_base(bench, tmp_path):
    """Whose pose is in the world, wherever the joint is placed."""
    path = tmp_path / 'arm.urdf'
    path.write_text(urdf(more='').replace('</robot>', """
      <link name="world"/>
      <link name="stand"/>
      <joint name="post" type="fixed"><parent link="world"/><child link="stand"/>
        <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></joint>
      <joint name="air" type="floating"><parent link="stand"/><child link="upper"/>
        <origin xyz="4 5 6" rpy="0.4 0.5 0.6"/></joint>
    </robot>"""))
    server, x = ServerBench(bench, model_file=str(path)), Motion(path)
    assert (described(server).base_body, described(server).joint_names) == ('upper', ['elbow'])
    _, tau = x.found(server.ask('inverse_dynamics', x.query()))
    assert_allclose(tau, x.dynamics.inverse(x.q, x.v, x.a), atol=1e-12)


def test_the_parameter_file_holds_every_default():
    entries = yaml.safe_load(config_file('dynamics_server.yaml').read_text())
    for node, parameters in (('dynamics_server', DYNAMICS_SERVER),
                             ('mujoco_simulator', MUJOCO_SIMULATOR)):
        assert entries['/**']['ros__parameters'] | entries[f'/**/{node}']['ros__parameters'] == {
            parameter.name: parameter.default for parameter in (*OF_ALL_NODES, *parameters)}


START = 'format: 1\nname: x\nbodies: {a: {mass: '
BOMB = '\n'.join(f'a{i}: &a{i} [{f"*a{i - 1}, " * 9}]' for i in range(1, 12))
FILES = {
    'a mass of 400 digits': START + '9' * 400,
    'a mass of 5000 digits': START + '9' * 5000,
    'an integer of 5000 digits': 'format: ' + '9' * 5000,
    'nested brackets': '[' * 3000,
    'nested brackets that close': 'a: ' + '[' * 3000 + ']' * 3000,
    'nested indents': '\n'.join(' ' * i + 'a:' for i in range(3000)),
    'a date that is none': 'format: 1\nname: 2024-13-45\n',
    'an alias bomb': f'a0: &a0 [x]\n{BOMB}\n',
    'an alias bomb as a key': f'a0: &a0 [x]\n{BOMB}\n? *a11\n: 1\n',
    'octal': START + '010}}\njoints: {j: {type: free, parent: null, child: a}}',
    'base 60': START + '1:30 }}\njoints: {j: {type: free, parent: null, child: a}}',
    'a tag': '!!python/object/apply:os._exit [1]',
    'no text': '\x00\x01\x02', 'nothing': '', 'a number': '1', 'a list': '[]'}


@pytest.mark.full
@pytest.mark.smoke
def test_bad_files_are_refused_and_the_model_kept(bench, tmp_path):
    server, x = ServerBench(bench, model_file=AERIAL.name), Motion(AERIAL)
    os.mkfifo(tmp_path / 'pipe.yaml')
    (tmp_path / 'folder.yaml').mkdir()
    (tmp_path / 'huge.yaml').touch()
    os.truncate(tmp_path / 'huge.yaml', 2**40)
    for i, text in enumerate(FILES.values()):
        (tmp_path / f'file_{i}.yaml').write_text(text)
    for path in sorted(tmp_path.iterdir()):
        for suffix in ('yaml', 'urdf', 'xacro'):
            result = server.configure(model_file=str(path.rename(path.with_suffix(f'.{suffix}'))))
            assert not result.successful
            assert result.reason
            path = path.with_suffix(f'.{suffix}')
        assert server.call(DescribeModel, 'describe_model').name == 'aerial_manipulator'
        x.found(server.ask('inverse_dynamics', x.query()))


@pytest.mark.parametrize('parameter', ['model_file', 'loops_file'])
def test_a_name_that_no_file_can_have_is_refused_by_name(bench, parameter):
    server = ServerBench(bench, model_file=AERIAL.name)
    for name in ('x' * 3000, 'x' * 3000 + '.yaml', '/' + 'x' * 3000):
        result = server.configure(**{parameter: name})
        assert not result.successful
        assert name[:10] in result.reason and len(result.reason) < 4000
        assert 'internal fault' not in result.reason
    assert server.call(DescribeModel, 'describe_model').name == 'aerial_manipulator'


@pytest.mark.full
def test_spoilt_files_load_or_are_refused(bench, tmp_path):
    server, served = ServerBench(bench, model_file=AERIAL.name), 'aerial_manipulator'
    for suffix, text in mutation_cases.cases(60, 40, seed=1):
        result = server.configure(model_file=str(mutation_cases.write(tmp_path, suffix, text)))
        found = server.call(DescribeModel, 'describe_model')
        assert found.success
        assert result.successful or found.name == served
        assert result.successful or 'internal fault' not in result.reason
        served = found.name


def test_what_a_description_warns_of_is_logged(bench):
    server = ServerBench(
        bench, robot_description=mutation_cases.URDF.replace('izz="2"', 'izz="9"'))
    bench.until_logged(server.node, 'no principal moment above the sum', LoggingSeverity.WARN)
    assert server.call(DescribeModel, 'describe_model').name == 'all'  # it is used all the same
