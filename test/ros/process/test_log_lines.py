# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The first line of a log asks the disk for no modules, and says where it stands all the same."""

import inspect
from linecache import getlines

import pytest
import rclpy.logging

from liedyn_ros.ros.process import run

pytestmark = pytest.mark.ros


@pytest.fixture
def line(monkeypatch):
    """Return a function that logs as one of the package's modules, in a fresh table of Python."""
    monkeypatch.setattr(inspect, 'modulesbyfile', {})
    monkeypatch.setattr(inspect, '_filesbymodname', {}, raising=False)
    own = {'logger': rclpy.logging.get_logger('a')}
    exec(compile('def line(): logger.info("told")', run.__file__, 'exec'), own)
    return own['line']


def test_the_first_line_searches_no_modules(line, capfd):
    run.know_modules()
    known = dict(inspect.modulesbyfile)
    line()
    assert inspect.modulesbyfile == known
    assert known[run.__file__] == run.__name__ and getlines(run.__file__)
    assert 'told' in capfd.readouterr().err


def test_without_the_table_all_modules_are_searched(line):
    """Where this fails, Python searches them no more, and `know_modules` can go."""
    line()
    assert len(inspect.modulesbyfile) > 100
