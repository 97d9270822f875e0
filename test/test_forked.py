# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Processes that tests fork end with the tests, however these end."""

from contextlib import suppress
import os
from pathlib import Path
import select

import pytest
from support import forked

LOST = """
from os import _exit, sched_yield

from support import forked

loop = forked.start('-c', 'import os; print(os.getpid(), flush=True)\\nwhile True: pass')
while not loop.read()[0].endswith('\\n'):
    sched_yield()
print(loop.read()[0], flush=True)
_exit(1)
"""


def test_what_a_lost_process_has_started_ends_with_it(monkeypatch):
    monkeypatch.setenv('PYTHONPATH', str(Path(__file__).parent), prepend=os.pathsep)
    result = forked.run('-c', LOST)
    with suppress(ProcessLookupError):  # it has ended
        assert select.select([os.pidfd_open(int(result.stdout))], [], [], 60.0)[0]


def test_a_process_that_does_not_end_is_told_with_its_output():
    program = 'import time; print("begun", flush=True); time.sleep(1000)'
    with forked.start('-c', program) as process:
        with pytest.raises(TimeoutError, match='expected an end within'):
            process.wait(0.1)
