# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Parts in processes: a lost one is said, whatever else begins at that time."""

from concurrent.futures.process import BrokenProcessPool
import multiprocessing
import time

import pytest
from support.work_parts import LostOnce

from liedyn_ros.common.processes import results_of_processes

LATE = 0.5  # s that the second process takes to begin, in which the first could do its part


def test_results_have_their_keys():
    context = multiprocessing.get_context('forkserver')
    assert dict(results_of_processes(abs, {'a': -1, 'b': -2, 'c': -3}, 2, context)) == {
        'a': 1, 'b': 2, 'c': 3}


def test_an_error_of_a_part_is_raised():
    context = multiprocessing.get_context('forkserver')
    with pytest.raises(ValueError, match='invalid literal'):
        dict(results_of_processes(int, {'a': '1', 'b': 'one'}, 2, context))


def test_a_process_is_lost_while_another_begins(tmp_path, monkeypatch):
    context, begun = multiprocessing.get_context('forkserver'), []
    start = context.Process.start

    def late(process):
        start(process)
        begun.append(process)
        time.sleep(LATE if len(begun) == 2 else 0.0)
    monkeypatch.setattr(context.Process, 'start', late)
    lost = LostOnce(abs, str(tmp_path / 'lost'))
    with pytest.raises(BrokenProcessPool):
        dict(results_of_processes(lost, dict.fromkeys(range(4), 0), 2, context))
    assert len(begun) == 2 and not any(process.is_alive() for process in begun)
