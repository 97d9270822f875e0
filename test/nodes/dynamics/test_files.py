# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whatever a model file does, the dynamics server answers on with the model it had."""

import os

from liedyn_interfaces.srv import DescribeModel
import pytest
from rclpy.logging import LoggingSeverity
from support.bench.dynamics_bench import AERIAL, Motion, ServerBench

from tools import mutation_cases

pytestmark = pytest.mark.ros
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
