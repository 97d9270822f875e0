# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The generated messages and services: through the middleware's serialisation and back."""

from pathlib import Path
import re

from liedyn_interfaces.action import Linearize as LinearizeAction
from liedyn_interfaces.msg import (
    BodyWrench, DynamicsAnswer, DynamicsQuery, JointMotion, LoopStatus, StewartStatus)
from liedyn_interfaces.srv import (
    AssemblyModes, Linearize, SolveStewartPose, StewartInverseKinematics)
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from liedyn_ros.dynamics import constrained
from liedyn_ros.nodes.dynamics.reading import CONSTRAINT_STATUS, REDUNDANCIES
from liedyn_ros.nodes.loops.machine import JointNumbers
from liedyn_ros.nodes.loops.outputs import FAULT_STATUS
from liedyn_ros.ros.node.services import UNLIMITED
from liedyn_ros.stewart import BranchSource, Flag, Start, Status

pytestmark = pytest.mark.smoke
PACKAGE = Path(__file__).parents[2] / 'liedyn_interfaces'
INTERFACES = PACKAGE / 'msg'
LEGS = [f'leg_{number}' for number in range(1, 7)]


def back_and_forth(message):
    return deserialize_message(serialize_message(message), type(message))


def test_status():
    status = StewartStatus(
        status=StewartStatus.STALLED, message='expected 6, got 5', start=StewartStatus.START_HOME,
        iterations=7, residual=1e-9, smallest_singular_value=0.25, solve_time=2e-6,
        length=[0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    status.header.frame_id = 'base'
    assert back_and_forth(status) == status


def test_solve_service():
    request = SolveStewartPose.Request(leg_names=LEGS, lengths=[0.5] * 6, use_guess=True)
    response = SolveStewartPose.Response(success=True, message='')
    response.pose.pose.orientation.w = 1.0
    assert back_and_forth(request) == request
    assert back_and_forth(response) == response


def test_assembly_modes_service():
    request = AssemblyModes.Request(leg_names=LEGS, lengths=[0.5] * 6)
    response = AssemblyModes.Response(
        success=True, complete=True, height=[0.5, -0.5], determinant_sign=[1, -1],
        smallest_singular_value=[0.4, 0.4], complex_solutions=28, solve_time=0.03)
    response.poses.header.frame_id = 'base'
    assert back_and_forth(request) == request
    assert back_and_forth(response) == response


def test_inverse_kinematics_service():
    response = StewartInverseKinematics.Response(
        success=True, leg_names=LEGS, lengths=[0.5] * 6, within_limits=[True] * 5 + [False])
    assert back_and_forth(response) == response


def constants(message_type):
    """Return the constants of a message, as its file has them and as it was generated."""
    text = (INTERFACES / f'{message_type.__name__}.msg').read_text()
    found = {name: int(value) for name, value in re.findall(r'^u?int\d+ (\w+)=(\d+)', text, re.M)}
    assert found == {name: getattr(message_type, name) for name in found}
    return found


def test_constants_of_the_status_are_those_of_python():
    statuses = {status.name: status.value for status in Status}
    starts = {f'START_{start.name}': start.value for start in Start}
    flags = {f'FLAG_{flag.name}': flag.value for flag in Flag}
    sources = {f'BRANCH_SOURCE_{source.name}': source.value for source in BranchSource}
    assert constants(StewartStatus) == {
        **statuses, 'REJECTED': max(statuses.values()) + 1, **starts, **flags, **sources}


def test_constants_of_the_query_are_those_that_the_server_knows():
    redundancies = {redundancy.upper(): value for value, redundancy in REDUNDANCIES.items()}
    assert constants(DynamicsQuery) == {'BODY': 0, 'SPATIAL': 1, **redundancies}


def test_constants_of_the_loop_status_are_its_faults():
    assert constants(LoopStatus) == {'COMPLETED': 0, 'SINGULAR': 1, 'OPEN': 2, 'REJECTED': 3}
    assert [status for _, status in FAULT_STATUS] == [1, 2, 3]


def test_a_joint_motion_is_a_joint_state_with_accelerations():
    fields = JointMotion.get_fields_and_field_types()
    state = JointState.get_fields_and_field_types()
    assert fields == {**state, 'acceleration': state['velocity']}
    assert {*JointNumbers._fields} == {*fields} - {'header', 'name'}
    motion = JointMotion(name=['knee'], position=[1.0], velocity=[2.0], acceleration=[3.0])
    assert back_and_forth(motion) == motion


def test_lists_of_messages_in_a_query_are_bounded():
    """Reading them holds Python's lock: 300 000 wrenches held all clients for a minute."""
    query = DynamicsQuery(external=[BodyWrench(body='base')] * 10_000)
    assert back_and_forth(query) == query
    query.external.append(BodyWrench(body='base'))
    with pytest.raises(Exception, match='Failed to serialize'):
        serialize_message(query)
    for message_type in (DynamicsQuery, Linearize.Request, LinearizeAction.Goal):
        kinds = message_type.get_fields_and_field_types().values()
        assert not [kind for kind in kinds if '/' in kind and kind.endswith('>')
                    and not kind.endswith(', 10000>')]


def test_units_in_comments_end_on_their_line():
    """The generators of code copy a unit into a string: one of two lines could not be built."""
    lines = [line for path in PACKAGE.glob('*/*.*') for line in path.read_text().splitlines()]
    assert not [line for line in lines if line.count('[') != line.count(']')]


def entries(path):
    """Return the largest product of bounds of lists of messages, one in the other, in a file."""
    lists = re.findall(r'^(?:\w+/)?([A-Z]\w+)(?:\[(?:<=(\d+))?\])? ',
                       path.read_text() if path.exists() else '', re.MULTILINE)
    return max((int(bound or 1) * entries(INTERFACES / f'{kind}.msg') for kind, bound in lists),
               default=1)


def test_bounds_of_lists_in_lists_multiply_to_little():
    """The middleware counts through them when a service opens: 10 000 by 10 000 took 0.9 s."""
    assert max(map(entries, PACKAGE.glob('*/*.*'))) == 200 * 2000


def test_constants_of_the_answer_are_the_statuses_of_constraints():
    assert constants(DynamicsAnswer) == {
        'UNCONSTRAINED' if status is None else status.name: value
        for status, value in CONSTRAINT_STATUS.items()}
    assert set(CONSTRAINT_STATUS) == {None, *constrained.ConstraintStatus}


@pytest.mark.parametrize('path', [*PACKAGE.glob('srv/*'), *PACKAGE.glob('action/*')],
                         ids=lambda path: path.name)
def test_the_bounds_of_a_request_are_told_first(path):
    assert re.search(r'^# Bounds? of one (request|goal): ', path.read_text().partition('\n\n')[0],
                     re.MULTILINE)


# Times without an end, and limits of models without limits, may be infinite.
INFINITE = {
    'Payload.msg': {'deviations', 'center_deviations'},
    'StewartStatus.msg': {'time_to_singularity'}, 'LoopStatus.msg': {'time_to_singularity'},
    'DescribeModel.srv': {'position_lower', 'position_upper', 'velocity_limit', 'effort_limit'}}


def test_fields_that_may_be_infinite_say_so():
    """Each of them stands in a paragraph whose comment says infinite, and nothing else does."""
    found = {}
    for path in sorted(PACKAGE.glob('*/*.*')):
        for paragraph in path.read_text(encoding='utf-8').split('\n\n'):
            comment = ' '.join(line for line in paragraph.splitlines() if line.startswith('#'))
            if re.search('infinite (where|when)', comment):
                found.setdefault(path.name, set()).update(
                    re.findall(r'^float64\S* (\w+)', paragraph, re.MULTILINE))
    assert found == INFINITE
    assert {f'{kind.__name__.partition("_")[0]}.srv': set(names)
            for kind, names in UNLIMITED.items()} == {'DescribeModel.srv': INFINITE[
                'DescribeModel.srv']}
