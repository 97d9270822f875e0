# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Processes beside a benchmark end with it, even where it is killed."""

from contextlib import suppress
import os
from pathlib import Path
import select

import pytest
from support import forked

pytest.importorskip('rclpy', reason='no ROS 2 is installed here')
LOST = """
from contextlib import ExitStack
from multiprocessing import active_children
from os import getpid, kill
from signal import SIGKILL

from benchmarks.nodes.heartbeat import Heartbeat

with ExitStack() as stack:
    Heartbeat(stack)
    print(active_children()[0].pid, flush=True)
    kill(getpid(), SIGKILL)
"""


def test_what_a_killed_benchmark_has_started_ends_with_it(monkeypatch):
    monkeypatch.setenv('PYTHONPATH', str(Path(__file__).parents[2]), prepend=os.pathsep)
    result = forked.run('-c', LOST)
    assert result.returncode == -9, result.stderr
    with suppress(ProcessLookupError):  # it has ended
        assert select.select([os.pidfd_open(int(result.stdout))], [], [], 60.0)[0]
