# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Work in parts has equal results wherever it is done, and outlives a process."""

from pathlib import Path

import pytest
from support import work_parts

from liedyn_ros.commands.work import results_of

TESTS = Path(__file__).parents[1]


@pytest.fixture
def paths(monkeypatch):
    """Let other processes import the package and the support of the tests."""
    monkeypatch.setenv('PYTHONPATH', f'{TESTS.parent}:{TESTS}', prepend=':')


def in_order(results):
    return [value for _, value in sorted(results)]


def test_a_lost_process_is_made_good(tmp_path, paths):
    parts = [(str(tmp_path), seed) for seed in range(4)]
    found = in_order(results_of(work_parts.numbers, parts, jobs=2))
    assert (tmp_path / 'begun').exists()
    assert found == in_order(results_of(work_parts.numbers, parts))
