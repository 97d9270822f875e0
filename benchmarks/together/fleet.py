# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Every node of the package, each in a process of its own, in the namespaces of five machines."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
import os
from pathlib import Path
import re
import subprocess
import sys
import time

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from benchmarks.faults.scene import ACTIVE
from benchmarks.faults.subjects import path, Subject, SUBJECTS
from benchmarks.nodes.caller import Question
from benchmarks.processes import end_process
from benchmarks.record import distro
from liedyn_ros.control import Gains
from liedyn_ros.control.follower import DELAY_MARGIN

START_TIMEOUT = 600.0  # s, for all; without a cache they compile their kernels
LOOK_PERIOD = 0.2  # s
FOLLOWED_RATE = 10.0  # Hz, of paths and of the joints that follow them
PICTURES = 5.0  # Hz, of the view
FOLDER = Path('out/soak') / distro()
STREAMS = {  # that are attacked
    JointState: ('moved/leg_states', 'controlled/leg_states', 'aerial/joint_states',
                 'aerial/joint_torques', 'linkage/measured_joint_states', 'running/joint_states'),
    Odometry: ('aerial/odometry',)}
TROUBLE = re.compile(r'^\[(WARN|ERROR|FATAL)\]')


class Member:
    """A node in a namespace, in a process that the stack ends."""

    def __init__(self, stack: ExitStack, place: str, subject: Subject, *parameters: str) -> None:
        """Start it."""
        self.subject, self.name = subject, f'{place}/{subject.node}'
        self._log = FOLDER / f'{self.name.replace("/", "_")}.log'
        self._log.parent.mkdir(parents=True, exist_ok=True)
        words = [word for each in parameters for word in ('-p', each)]
        with self._log.open('w') as output:
            self.process = subprocess.Popen(
                [sys.executable, '-m', subject.module, '--ros-args', '-r', f'__ns:=/{place}',
                 *words], stdout=output, stderr=subprocess.STDOUT, text=True,
                env={**os.environ, 'ROS_LOG_DIR': str(FOLDER.absolute())})
        stack.callback(end_process, self.process)
        self._read = 0  # bytes of the log

    @property
    def active(self) -> bool:
        """Return whether it works; raise SystemExit where it has ended."""
        self.require()
        return ACTIVE in self._log.read_text()

    def require(self) -> None:
        """Raise SystemExit where it has ended."""
        if self.process.poll() is not None:
            raise SystemExit(f'{self.name}: expected a node that runs, it has ended with code '
                             f'{self.process.returncode}; see {self._log}')

    def trouble(self) -> list[str]:
        """Return the warnings and errors of its log since the last time."""
        text = self._log.read_text()
        new, self._read = text[self._read:], len(text)
        return [line for line in new.splitlines() if TROUBLE.match(line)]

    def cpu(self) -> float:
        """Return its processor time, s."""
        fields = Path(f'/proc/{self.process.pid}/stat').read_text().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def held(self) -> int:
        """Return how many files it has open and how many threads it runs."""
        return sum(len(os.listdir(f'/proc/{self.process.pid}/{each}')) for each in ('fd', 'task'))

    def logged(self) -> float:
        """Return the size of its log, MB."""
        return 1e-6 * self._log.stat().st_size

    def questions(self) -> list[Question]:
        """Return calls of its services: its parameters, and what changes nothing."""
        place = self.name.partition('/')[0]
        kept = replace(self.subject, service=None)
        asked = [kept] if self.subject.node.endswith('simulator') else [kept, self.subject]
        if self.subject.service is None:
            asked = asked[:1]
        return [_question(place, each) for each in asked]


def _question(place: str, subject: Subject) -> Question:
    kind, name, request = subject.question
    return Question(kind, f'/{place}/{name}', lambda _: request, subject.answers)


def resets(members: Sequence[Member]) -> dict[str, list[Question]]:
    """
    Return calls that put each machine under control back to its start, by its place.

    A controller that has stopped waits for its operator, so each is activated again.
    """
    def change(member: Member, transition: int) -> Question:
        request = ChangeState.Request(transition=Transition(id=transition))
        return Question(ChangeState, f'/{member.name}/change_state', lambda _: request,
                        lambda response: bool(response.success))

    found: dict[str, list[Question]] = {}
    for member in members:
        place = member.name.partition('/')[0]
        if member.subject.node.endswith('simulator') and member.subject.service is not None:
            found[place] = [_question(place, member.subject)]
    for member in members:
        if member.subject.node.endswith('controller'):
            place = member.name.partition('/')[0]
            found[place] = [change(member, Transition.TRANSITION_DEACTIVATE), *found[place],
                            change(member, Transition.TRANSITION_ACTIVATE)]
    return found


def _runner() -> Subject:
    """Return the node that runs paths, asked for one that ends where it begins."""
    closed = path()
    closed.trajectory.points.append(closed.trajectory.points[0])
    subject = SUBJECTS['path_runner']
    kind, name, _ = subject.service
    return replace(subject, service=(kind, name, lambda: closed))


def start_follower(stack: ExitStack) -> int:
    """Start the joints that follow the commands of `running`; return the id of the process."""
    process = subprocess.Popen(
        [sys.executable, '-m', 'benchmarks.together.follower', '--ros-args', '-r',
         '__ns:=/running'], stdin=subprocess.PIPE, text=True)
    stack.callback(end_process, process)
    return process.pid


def start_attacks(stack: ExitStack, rate: float) -> Callable[[], int]:
    """Start whoever means harm at a rate, Hz; return what tells how many attacks there were."""
    log = FOLDER / 'attacks.log'
    with log.open('w') as output:
        process = subprocess.Popen([sys.executable, '-m', 'benchmarks.together.attacks',
                                    str(rate)], stdout=output, stderr=subprocess.STDOUT)
    stack.callback(end_process, process)

    def count() -> int:
        if process.poll() is not None:
            raise SystemExit(f'expected attacks, they have ended; see {log}')
        return int((re.findall(r'(\d+) attacks', log.read_text()) or ['0'])[-1])
    return count


def start(stack: ExitStack, pose_rate: float, rate: float) -> list[Member]:
    """
    Start all nodes and wait until they are active.

    pose_rate: of the platform whose lengths are simulated, Hz. rate: of all others.
    """
    platform, steps = f'rate:={rate}', 'integration_rate:=250.0'
    pole = 0.5 * DELAY_MARGIN * rate  # a command is used for a period, which this delay bears
    poles = tuple(f'{name}_pole:={min(pole, value)}' for name, value in (
        ('rotation', Gains.rotation), ('position', Gains.position)))
    members = [Member(stack, place, SUBJECTS[node], *parameters) for place, node, *parameters in (
        ('moved', 'stewart_simulator', f'rate:={pose_rate}'),
        ('moved', 'stewart_pose'),
        ('controlled', 'stewart_dynamics_simulator', platform, steps),
        ('controlled', 'stewart_pose'),
        ('controlled', 'stewart_controller', *poles),
        ('aerial', 'dynamics_server', 'model_file:=aerial_manipulator.yaml'),
        ('aerial', 'aerial_manipulator_simulator', f'publish_rate:={rate}', steps),
        ('aerial', 'aerial_manipulator_controller', *poles),
        ('moved', 'view', f'rate:={PICTURES}'),
        ('linkage', 'loop_state_publisher', *SUBJECTS['loop_state_publisher'].parameters))]
    members.append(Member(stack, 'running', _runner(), f'rate:={FOLLOWED_RATE}',
                          *SUBJECTS['path_runner'].parameters))
    end = time.monotonic() + START_TIMEOUT
    while not all(member.active for member in members):
        if time.monotonic() > end:
            missing = [member.name for member in members if not member.active]
            raise SystemExit(f'expected active nodes within {START_TIMEOUT:g} s, got none of '
                             f'{missing}; see {FOLDER}')
        time.sleep(LOOK_PERIOD)
    return members
