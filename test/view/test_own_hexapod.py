# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A hexapod of somebody else, from its file to a page, by the commands of tutorial 2."""

from contextlib import contextmanager, ExitStack
from pathlib import Path
import re
import sys

import pytest
from support.browser import assert_plays_offline, wait_for
from support.scripts import free_port, running

pytestmark = pytest.mark.full

pytest.importorskip('rclpy', reason='no ROS 2 is installed here')
pytest.importorskip('viser', reason='the view is not installed here')
PAGE = (Path(__file__).parents[2] / 'docs' / 'guides' / 'stewart_platform.md').read_text(
    encoding='utf-8')
COMMAND = re.compile(r'^\. tools/env\.sh && (?:python|(?=liedyn )) ?(.*)$', re.MULTILINE)
ADDRESS = re.compile(r'the view is on (\S+)')
GEOMETRY = """name: desk_hexapod
legs:
  a1: {base: [0.080, 0.020, 0], platform: [0.045, 0.040, 0], length: [0.13, 0.20]}
  a2: {base: [-0.023, 0.079, 0], platform: [0.012, 0.059, 0], length: [0.13, 0.20]}
  a3: {base: [-0.057, 0.059, 0], platform: [-0.057, 0.019, 0], length: [0.13, 0.20]}
  a4: {base: [-0.057, -0.059, 0], platform: [-0.057, -0.019, 0], length: [0.13, 0.20]}
  a5: {base: [-0.023, -0.079, 0], platform: [0.012, -0.059, 0], length: [0.13, 0.20]}
  a6: {base: [0.080, -0.020, 0], platform: [0.045, -0.040, 0], length: [0.13, 0.20]}
"""
PARAMETERS = """/**:
  ros__parameters:
    geometry_file: {geometry}
    home_position: [0.0, 0.0, 0.155]
/**/stewart_simulator:
  ros__parameters:
    rate: 50.0
    amplitudes: [0.05, 0.05, 0.05, 0.01, 0.01, 0.01]
/**/view:
  ros__parameters:
    rate: 5.0
"""  # few samples and few pictures: a processor without a graphics card draws each


@contextmanager
def logged(command, folder):
    """Run a command of the page in a folder; provide its log, and end it as Ctrl-C does."""
    arguments = command.replace('$PWD', str(folder)).split()
    if arguments[0] == 'liedyn':
        arguments[:1] = '-m', 'liedyn_ros'
    log = folder / f'{arguments[1]}.log'
    with log.open('w') as output, running(
            [sys.executable, *arguments], cwd=folder, stdout=output, stderr=output):
        yield log


def test_an_own_geometry_is_seen_live_and_its_recording_plays_offline(tab, tmp_path):
    (tmp_path / 'mine.yaml').write_text(GEOMETRY)
    (tmp_path / 'my_hexapod_nodes.yaml').write_text(
        PARAMETERS.format(geometry=tmp_path / 'mine.yaml'))
    *nodes, view = COMMAND.findall(PAGE)
    assert len(nodes) == 2
    with ExitStack() as stack:
        logs = [stack.enter_context(logged(command, tmp_path))
                for command in (*nodes, f'{view} -p port:={free_port()}')]
        wait_for(lambda: ADDRESS.search(logs[-1].read_text()))
        tab.goto(ADDRESS.search(logs[-1].read_text())[1])
        position = tab.get_by_text(re.compile('Position .* mm')).first
        position.wait_for()
        before = position.inner_text()
        wait_for(lambda: position.inner_text() != before)
        tab.get_by_text('Tracking, no warning').wait_for()
        assert tab.faults == []
    for log in logs:
        assert not re.search('Traceback|beyond the travel|not configured:', log.read_text())
    assert_plays_offline(tab, tmp_path / 'seen.html')
