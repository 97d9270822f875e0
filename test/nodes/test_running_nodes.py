# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Programs of docs/guides/running_nodes.md: two platforms at once, and Nav2's bring-up, played."""

from pathlib import Path
import re
import signal

from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
import pytest
from support import forked
from support.bench.command_lines import node_class, NODES
import yaml

from liedyn_ros.ros.node.bond import HEARTBEAT_PERIOD

pytestmark = pytest.mark.ros
PAGE = Path(__file__).parents[2] / 'docs' / 'guides' / 'running_nodes.md'
PROGRAM = re.search(r'^```python\n(.*?)^```', PAGE.read_text(), re.DOTALL | re.MULTILINE)[1]
MANAGER = yaml.safe_load(re.search(
    r'```yaml\n(# lifecycle_manager.*?)```', PAGE.read_text(), re.DOTALL)[1])[
        'lifecycle_manager']['ros__parameters']
STARTUP = ((Transition.TRANSITION_CONFIGURE, State.PRIMARY_STATE_INACTIVE),
           (Transition.TRANSITION_ACTIVATE, State.PRIMARY_STATE_ACTIVE))


def end(process):
    """Interrupt the program, which ends quietly."""
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert (process.returncode, 'Traceback' in errors) == (0, False), errors


def test_two_platforms_in_one_process(bench):
    poses = {side: bench.collect(PoseStamped, f'/{side}/pose') for side in ('left', 'right')}
    with forked.start('-c', PROGRAM) as process:
        bench.until(lambda: process.poll() is not None or all(poses.values()),
                    'a pose of each platform')
        end(process)
    for side, received in poses.items():
        assert received[0].header.frame_id == f'{side}/stewart_base'


def test_an_interrupt_ends_it_before_all_nodes_are_built(bench):
    with forked.start('-c', PROGRAM) as process:
        bench.until(lambda: process.poll() is not None
                    or 'stewart_pose]: active' in process.read()[1], 'the first node')
        end(process)


def test_a_manager_brings_the_nodes_up(bench):
    """As its `startup` does: each transition of all nodes in turn, and a look at the state."""
    assert set(MANAGER['node_names']) <= set(NODES)
    assert MANAGER['bond_timeout'] > 10.0 * HEARTBEAT_PERIOD.default
    for name in MANAGER['node_names']:
        bench.add(node_class(name), autostart=False)
    for transition, state in STARTUP:
        for name in MANAGER['node_names']:
            assert bench.call(ChangeState, f'{name}/change_state',
                              transition=Transition(id=transition)).success
            assert bench.call(GetState, f'{name}/get_state').current_state.id == state
