# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What participants that were killed left in shared memory is counted and named."""

import fcntl
import os

import pytest

from liedyn_ros.commands.operation import shared_memory
from liedyn_ros.commands.operation.finding import Severity


@pytest.fixture
def segments(tmp_path):
    """Return a folder with a segment that is held, and one that is not."""
    for name in ('fastdds_0a', 'fastdds_0b', 'sem.other', 'fastdds_port7000'):
        (tmp_path / name).write_bytes(bytes(8192))
    for name in ('fastdds_0a_el', 'fastdds_0b_el', 'fastdds_gone_el'):
        (tmp_path / name).touch()
    os.mkfifo(tmp_path / 'fastdds_pipe_sl')
    with (tmp_path / 'fastdds_0a_el').open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield tmp_path


def test_segments_that_nobody_holds_are_named(segments):
    room, left = shared_memory.findings(segments)
    assert room.level is Severity.OK
    assert left.level is Severity.WARN
    assert 'fastdds_0b' in left.text and 'fastdds_0a' not in left.text
    assert left.text.startswith('1 segment')
    (segments / 'fastdds_0b').unlink()
    assert [each.level for each in shared_memory.findings(segments)] == [Severity.OK]


def test_a_folder_without_room_is_an_error(segments, monkeypatch):
    monkeypatch.setattr(shared_memory, 'SEGMENT', 2**62)
    assert next(shared_memory.findings(segments)).level is Severity.ERROR


def test_a_system_without_the_folder_is_told(tmp_path):
    found, = shared_memory.findings(tmp_path / 'none')
    assert found.level is Severity.WARN
