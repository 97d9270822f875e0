# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Parts in processes: a lost one is said, and none is left behind."""

from concurrent.futures.process import BrokenProcessPool
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest
from support.work_parts import LostOnce

from liedyn_ros.common.processes import results_of_processes

CONTEXT = multiprocessing.get_context('forkserver')
LATE = 0.5  # s that the second process takes to begin, in which the first could do its part
LONG = 3600.0  # s that nobody waits for
SCRIPT = """
import multiprocessing
import os
import time

from liedyn_ros.common.processes import results_of_processes


def part(seconds):
    os.write(1, f'{os.getpid()}\\n'.encode())  # at once, where Python does not buffer too
    time.sleep(seconds)


if __name__ == '__main__':
    list(results_of_processes(part, {0: 3600.0, 1: 0.0}, 2, multiprocessing.get_context('spawn')))
"""


def test_results_have_their_keys():
    assert dict(results_of_processes(abs, {'a': -1, 'b': -2, 'c': -3}, 2, CONTEXT)) == {
        'a': 1, 'b': 2, 'c': 3}


def test_an_error_of_a_part_is_raised_at_once():
    parts = {'a': LONG, 'b': 'one', 'c': LONG}
    with pytest.raises(TypeError, match='str'):
        dict(results_of_processes(time.sleep, parts, 2, CONTEXT))
    assert not multiprocessing.active_children()


def test_parts_that_nobody_takes_are_given_up():
    results = results_of_processes(time.sleep, {0: 0.0, 1: LONG, 2: LONG}, 2, CONTEXT)
    assert next(results) == (0, None)
    results.close()
    assert not multiprocessing.active_children()


class Watched(dict):
    """Parts that are submitted slowly, and note whether one has begun by then."""

    def __init__(self, parts, marker):
        """Take parts, and the file that the first of them makes."""
        super().__init__(parts)
        self.marker, self.seen = marker, []

    def items(self):
        """Yield the parts."""
        for each in super().items():
            yield each
            time.sleep(LATE)
            self.seen.append(self.marker.exists())


def test_no_part_begins_before_all_are_submitted(tmp_path):
    parts = Watched({0: str(tmp_path / 'begun'), 1: str(tmp_path / 'too')}, tmp_path / 'begun')
    assert dict(results_of_processes(os.mkdir, parts, 2, CONTEXT)) == {0: None, 1: None}
    assert parts.seen == [False, False] and parts.marker.exists()


def test_a_process_is_lost_while_another_begins(tmp_path, monkeypatch):
    begun, start = [], CONTEXT.Process.start

    def late(process):
        start(process)
        begun.append(process)
        time.sleep(LATE if len(begun) == 2 else 0.0)
    monkeypatch.setattr(CONTEXT.Process, 'start', late)
    lost = LostOnce(abs, str(tmp_path / 'lost'))
    with pytest.raises(BrokenProcessPool):
        dict(results_of_processes(lost, dict.fromkeys(range(4), 0), 2, CONTEXT))
    assert len(begun) == 2 and not any(process.is_alive() for process in begun)


@pytest.mark.parametrize('ends', [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_what_asked_for_them(tmp_path, ends):
    (tmp_path / 'script.py').write_text(SCRIPT)
    with subprocess.Popen([sys.executable, str(tmp_path / 'script.py')], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as process:
        try:
            workers = [int(process.stdout.readline()) for _ in range(2)]
            (os.killpg if ends == signal.SIGINT else os.kill)(process.pid, ends)  # Ctrl-C: all
            _, error = process.communicate()  # the last process that has the pipes closes them
        finally:
            process.kill()
    assert len(set(workers)) == 2 and process.returncode == -ends
    assert error.count('Traceback') == (1 if ends == signal.SIGINT else 0)
