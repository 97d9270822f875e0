# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The doctor: its findings, page and exit code, missing parts, shared memory of killed nodes."""

import fcntl
from importlib.util import find_spec
import json
import os
import time

import pytest

from liedyn_ros.commands.operation import computer, doctor, environment, middleware, shared_memory
from liedyn_ros.commands.operation.computer import DoctorLine, Severity

REPORT = {'rmw': 'rmw_x', 'domain': 3, 'discovery': 0.5, 'round_trip': 0.001, 'nodes': ['/pose'],
          'clocks': [], 'diagnostics': []}


def levels(found):
    """Return the levels of findings."""
    return [each.level for each in found]


def test_the_page_begins_with_the_worst_and_the_exit_code_is_its_level(monkeypatch, capsys):
    found = [DoctorLine('a', Severity.OK, 'fine'), DoctorLine('a', Severity.WARN, 'odd', 'look'),
             DoctorLine('b', Severity.ERROR, 'broken', 'mend')]
    monkeypatch.setattr(doctor, 'findings', lambda: iter(found))
    assert doctor.main([]) == 2
    assert capsys.readouterr().out.splitlines() == [
        'liedyn_ros doctor: 2 of 3 findings need attention', 'E broken  -> mend',
        'W odd  -> look', '', '## a', '  fine', 'W odd  -> look', '', '## b',
        'E broken  -> mend']
    assert doctor.main(['--json']) == 2
    assert json.loads(capsys.readouterr().out)[1] == {
        'part': 'a', 'level': 'WARN', 'text': 'odd', 'cure': 'look'}


def test_without_ros_it_says_so(monkeypatch):
    monkeypatch.setattr(environment, 'find_spec', lambda name: None)
    monkeypatch.setattr(middleware, 'find_spec', lambda name: None)
    assert any(each.level == Severity.WARN and each.text.startswith('no ROS 2')
               for each in environment.findings())
    assert all(each.text.startswith('multicast') for each in middleware.findings())


@pytest.mark.parametrize(('requirement', 'level'), [
    ('numpy>=1.0,<3', Severity.OK), ('numpy>=99', Severity.ERROR), ('numpy<1.0', Severity.ERROR),
    ('numpy', Severity.OK), ('no-such-package>=1', Severity.ERROR)])
def test_requirements(requirement, level, monkeypatch):
    monkeypatch.setattr(environment, 'requirements', lambda: [requirement])
    assert list(environment.findings())[-1].level == level


def test_the_requirements_are_those_of_setup():
    names = {each.partition('>')[0] for each in environment.requirements()}
    assert names == {'numpy', 'PyYAML', 'scipy', 'transforms3d'}


def test_a_clock_that_was_set_is_seen():
    now = computer.clock_difference()
    assert max(levels(computer.clock_findings(now + 5.0))) == Severity.WARN
    assert 'moved' in next(computer.clock_findings(now)).text


def test_a_clock_before_this_package_existed_is_an_error(monkeypatch):
    monkeypatch.setattr(time, 'time', lambda: 0.0)
    assert max(levels(computer.clock_findings(computer.clock_difference()))) == Severity.ERROR


@pytest.mark.parametrize(('change', 'level'), [
    ({}, Severity.OK), ({'round_trip': None, 'discovery': None}, Severity.ERROR),
    ({'clocks': ['bag']}, Severity.OK), ({'clocks': ['bag', 'simulator']}, Severity.WARN),
    ({'diagnostics': [['pose: legs', 2, 'a reading has jumped']]}, Severity.ERROR),
    ({'diagnostics': [['pose: legs', 3, 'no pose']]}, Severity.WARN)])
def test_reports_of_the_probe(change, level):
    assert max(levels(middleware.judge({**REPORT, **change}))) == level


@pytest.mark.skipif(find_spec('rclpy') is None, reason='no ROS 2, so no probe')
@pytest.mark.parametrize('module', ['liedyn_ros.no_probe', 'this'])
def test_a_probe_that_fails_is_an_error(module, monkeypatch):
    monkeypatch.setattr(middleware, 'PROBE', module)
    assert any(each.level == Severity.ERROR and each.text.startswith('the probe failed')
               for each in middleware.findings())


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
