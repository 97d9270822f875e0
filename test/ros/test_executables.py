# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Every node as a process of its own: it starts, answers and ends."""

import signal

from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
import pytest
from support.bench.command_lines import NODES, ROOT
from support.forked import start

pytestmark = [pytest.mark.ros, pytest.mark.smoke, pytest.mark.full]


def test_every_node_has_an_executable():
    with_main = {'.'.join(path.relative_to(ROOT).with_suffix('').parts)
                 for path in (ROOT / 'liedyn_ros' / 'nodes').rglob('*.py')
                 if '\ndef main(' in path.read_text()}
    assert with_main == set(NODES.values())


@pytest.mark.parametrize(('name', 'options'), [
    (name, ('-p', 'model_file:=arm.urdf') * (name == 'mujoco_simulator')) for name in NODES])
def test_a_node_starts_alone_and_ends_cleanly(bench, namespace, name, options):
    """Missing input is no error; a node that serves a model is active without one too."""
    with start('-c', f'from {NODES[name]} import main; main()',
               '--ros-args', '-r', f'__ns:={namespace}', *options) as process:
        bench.until(lambda: process.poll() is not None or bench.partner.count_services(
            f'{namespace}/{name}/get_state'), f'{name} to be there')
        bench.until(lambda: process.poll() is not None or bench.call(
            GetState, f'{name}/get_state').current_state.id == State.PRIMARY_STATE_ACTIVE,
            f'{name} to be active')
        process.send_signal(signal.SIGINT)
        output = ''.join(process.communicate())
    assert process.returncode == 0, output
    assert 'active' in output
    assert not any(word in output for word in ('Traceback', 'ERROR')), output
