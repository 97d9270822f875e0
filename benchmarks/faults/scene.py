# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A node under test between a feed and a probe, each in a process of its own."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, ExitStack
from dataclasses import dataclass, field
import json
import os
from pathlib import Path
import select
import subprocess
import sys
import time

from benchmarks.faults.figures import Record
from benchmarks.faults.subjects import Subject, SUBJECTS
from benchmarks.processes import end_process, kill_process
from benchmarks.record import distro

START_TIMEOUT = 600.0  # s, of the first start, which may have to compile all kernels
# s, in which a node must be back. It starts with kernels from the cache: in 2 to 4 s on a quiet
# machine, in 14 s at most beside a load of 20.
TIMEOUT = 60.0
LOOK_PERIOD = 0.2  # s
FOLDER = Path('out/faults') / distro()
ACTIVE = ']: active'  # of the log of a node that has started


class NotBackError(Exception):
    """A node under test does not work, though it should by now."""


@dataclass(frozen=True)
class Stage:
    """
    Where a scene takes place.

    node and partners: what stands before the commands of the nodes, and of feed and probe.
    environment: variables of all. simulated: time comes from the feed.
    """

    node: Sequence[str] = ()
    partners: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    simulated: bool = False


class Scene:
    """Processes that are ended with the stack, whatever happens."""

    def __init__(self, stack: ExitStack, subject: Subject, stage: Stage) -> None:
        """Start everything; the node works then."""
        self.subject, self.stage, self._stack = subject, stage, stack
        self.record, self.begun = self._begin_record(), time.monotonic()
        self._switch = ('--simulated',) if stage.simulated else ()
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.helpers = [self._start_node(SUBJECTS[name]) for name in subject.helpers]
        self.start_node()
        self._probe = self._start_partner('probe', subprocess.PIPE)
        self.start_feed()
        self.wait(self.begun, START_TIMEOUT)

    @property
    def log(self) -> Path:
        """Return the log of the node's last start."""
        return FOLDER / f'{self.subject.node}.log'

    def start_node(self, *before: str) -> None:
        """Start the node; before: what stands before its command."""
        self.node = self._start_node(self.subject, before)

    def kill_node(self) -> None:
        """End the node by SIGKILL."""
        kill_process(self.node)

    def restart_node(self, *before: str) -> None:
        """Kill the node and start it again."""
        self.kill_node()
        self.start_node(*before)

    def kill_helper(self) -> None:
        """Kill the server that the node asks, and start it again."""
        helper, = self.helpers
        kill_process(helper)
        time.sleep(1.0)
        self.helpers = [self._start_node(SUBJECTS[self.subject.helpers[0]])]

    @contextmanager
    def second_node(self) -> Iterator[None]:
        """Run a second node of the same name, once it is active."""
        log = FOLDER / 'second.log'
        second = self._start_node(self.subject, log=log)
        end = time.monotonic() + TIMEOUT
        while ACTIVE not in log.read_text():
            if time.monotonic() > end:
                raise NotBackError(f'expected an active second node within {TIMEOUT:g} s')
            time.sleep(LOOK_PERIOD)
        yield
        end_process(second)

    def start_feed(self) -> None:
        """Start the publisher of the node's input."""
        self._feed = self._start_partner('feed')

    def kill_feed(self) -> None:
        """End the publisher by SIGKILL."""
        kill_process(self._feed)

    @contextmanager
    def second_feed(self) -> Iterator[None]:
        """Run a second publisher of the same input."""
        second = self._start_partner('feed')
        yield
        kill_process(second)

    def command(self, line: str) -> None:
        """Command the feed."""
        write(self._feed, line)

    def wait(self, begin: float, timeout: float = TIMEOUT) -> None:
        """Wait until the node works after a time; raise NotBackError if it does not."""
        end = time.monotonic() + timeout
        fed = bool(self.subject.inputs())  # the next fault shall not find a feed that starts
        while not self.record.works(begin, fed):
            time.sleep(LOOK_PERIOD)
            self._listen(timeout)
            if self.node.poll() is not None:
                raise NotBackError(f'the node has ended with code {self.node.returncode}')
            if time.monotonic() > end:
                missing = ('outputs' if self.record.back_at(begin) is None else
                           'answers' if self.record.served_at(begin) is None else 'inputs')
                raise NotBackError(f'no good {missing} within {timeout:g} s')

    def settle(self) -> None:
        """Wait until the node works, and forget what was heard until then."""
        self.wait(time.monotonic())
        self._listen()
        self.record, self.begun = self._begin_record(), time.monotonic()

    def _begin_record(self) -> Record:
        return Record(steady=self.subject.steady, max_gap=self.subject.max_gap)

    def _listen(self, timeout: float = TIMEOUT) -> None:
        write(self._probe, 'take')
        # Nothing of an earlier line waits in a buffer: each request is answered by one.
        if not select.select([self._probe.stdout], [], [], timeout)[0]:
            raise SystemExit(f'expected a record within {timeout:g} s, the probe hangs')
        line = self._probe.stdout.readline()
        if not line:
            raise SystemExit('expected a record, the probe has ended')
        self.record.extend(Record(**json.loads(line)))

    def _start_node(self, subject: Subject, before: Sequence[str] = (),
                    log: Path | None = None) -> subprocess.Popen[str]:
        parameters = [*subject.parameters]
        if self.stage.simulated:
            parameters.append('use_sim_time:=true')
        arguments = [word for each in parameters for word in ('-p', each)]
        with (log or FOLDER / f'{subject.node}.log').open('w') as output:
            return self._start(
                [*self.stage.node, *before, sys.executable, '-m', subject.module, '--ros-args',
                 *arguments], stdout=output, stderr=subprocess.STDOUT)

    def _start_partner(self, name: str, stdout: int | None = None) -> subprocess.Popen[str]:
        return self._start(
            [*self.stage.partners, sys.executable, '-m', f'benchmarks.faults.{name}',
             self.subject.node, *self._switch], stdin=subprocess.PIPE, stdout=stdout)

    def _start(self, command: Sequence[str], **options: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(command, text=True, env={
            **os.environ, 'ROS_LOG_DIR': str(FOLDER.absolute()), **self.stage.environment},
            **options)
        self._stack.callback(end_process, process)
        return process


def write(process: subprocess.Popen[str], line: str) -> None:
    """Write a line to the input of a process."""
    process.stdin.write(f'{line}\n')
    process.stdin.flush()
