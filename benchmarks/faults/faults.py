# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The table of faults.

A fault is a context manager. It is done, and over, when the block begins; the node must work again
before the block ends. What is left of the fault is put right after the block.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
import os
from pathlib import Path
import signal
import time

from ament_index_python import get_resources

from benchmarks.faults import surroundings
from benchmarks.faults.scene import FOLDER, Scene, Stage

HOLD = 3.0  # s, for which a fault lasts
LOSS, DELAY = 0.3, 0.05  # share of the messages; s, five periods at most
JUMP = 10.0  # s, of a clock
MEMORY = 400 << 20  # bytes
SHARE = 0.2  # of a processor
DISK = FOLDER / 'disk'

Does = Callable[[Scene], AbstractContextManager[None]]
Reason = Callable[[], str]


def possible() -> str:
    """Return no reason against a fault."""
    return ''


@contextmanager
def usual() -> Iterator[Stage]:
    """Return the usual stage."""
    yield Stage()


@dataclass(frozen=True)
class Fault:
    """
    A fault.

    impossible: returns why it cannot be done here, or nothing. stage: where the scene takes
    place. fed: only of nodes with input. helped: only of nodes that need another.
    """

    name: str
    do: Does
    stage: Callable[[], AbstractContextManager[Stage]] = usual
    impossible: Reason = possible
    fed: bool = False
    helped: bool = False


@contextmanager
def publisher_killed(scene: Scene) -> Iterator[None]:
    """Kill what publishes the input, and start it again."""
    scene.kill_feed()
    time.sleep(HOLD)
    scene.start_feed()
    yield


@contextmanager
def node_killed(scene: Scene) -> Iterator[None]:
    """Kill the node, and start it again as a supervisor would."""
    scene.restart_node()
    yield


@contextmanager
def server_killed(scene: Scene) -> Iterator[None]:
    """Kill the server that the node asks, and start it again."""
    scene.kill_helper()
    yield


@contextmanager
def node_stopped(scene: Scene) -> Iterator[None]:
    """Let the node stand still, as a debugger or a hypervisor does."""
    scene.node.send_signal(signal.SIGSTOP)
    time.sleep(HOLD)
    scene.node.send_signal(signal.SIGCONT)
    yield


@contextmanager
def two_nodes(scene: Scene) -> Iterator[None]:
    """Run a second node of the same name for a while."""
    with scene.second_node():
        time.sleep(HOLD)
    yield


@contextmanager
def two_publishers(scene: Scene) -> Iterator[None]:
    """Run a second publisher of the same input for a while."""
    with scene.second_feed():
        time.sleep(HOLD)
    yield


@contextmanager
def poor_link(scene: Scene) -> Iterator[None]:
    """Drop, delay and reorder the input."""
    scene.command(f'link {LOSS} {DELAY}')
    time.sleep(HOLD)
    scene.command('link 0 0')
    yield


def clock_set(seconds: float) -> Does:
    """Return the fault that simulated time jumps."""
    @contextmanager
    def do(scene: Scene) -> Iterator[None]:
        scene.command(f'shift {seconds}')
        time.sleep(HOLD)
        yield
    return do


@contextmanager
def time_paused(scene: Scene) -> Iterator[None]:
    """Pause simulated time and the input."""
    scene.command('pause')
    time.sleep(HOLD)
    scene.command('run')
    yield


@contextmanager
def time_looped(scene: Scene) -> Iterator[None]:
    """Play the same two seconds of simulated time three times."""
    for _ in range(3):
        time.sleep(2.0)
        scene.command('shift -2')
    yield


def system_clock_set(seconds: float) -> Does:
    """Return the fault that the system clock jumps."""
    @contextmanager
    def do(_: Scene) -> Iterator[None]:
        surroundings.set_clock(seconds)
        time.sleep(HOLD)  # processes read the clock's file once a second
        yield
    return do


@contextmanager
def network_down(_: Scene) -> Iterator[None]:
    """Take off the cable between the node and its partners for a while."""
    surroundings.set_cable(False)
    time.sleep(HOLD)
    surroundings.set_cable(True)
    yield


def started(before: Callable[[], Sequence[str]]) -> Does:
    """Return the fault that the node has to start in surroundings, and work there."""
    @contextmanager
    def do(scene: Scene) -> Iterator[None]:
        scene.restart_node(*before())
        yield
        scene.restart_node()
    return do


def full_disk() -> tuple[str, ...]:
    """Return the surroundings of a disk that is full from the start."""
    return small_disk(True)


def small_disk(full: bool) -> tuple[str, ...]:
    """Return the surroundings of a small disk for logs."""
    DISK.mkdir(parents=True, exist_ok=True)
    return surroundings.small_disk(DISK.absolute(), full)


@contextmanager
def disk_fills(scene: Scene) -> Iterator[None]:
    """Fill the disk of the logs under a running node."""
    scene.restart_node(*small_disk(False))
    scene.settle()
    filling = Path(f'/proc/{scene.node.pid}/root{DISK.absolute()}/filling')
    try:
        filling.write_bytes(bytes(2 << 20))
    except OSError:  # the disk is full now
        pass
    time.sleep(HOLD)
    yield
    scene.restart_node()


@contextmanager
def little_memory(scene: Scene) -> Iterator[None]:
    """Start the node in a group of little memory."""
    with surroundings.limited('memory', MEMORY) as group:
        scene.restart_node(*surroundings.joining(group))
        yield
        scene.restart_node()


@contextmanager
def little_processor(scene: Scene) -> Iterator[None]:
    """Give the node a share of a processor for a while."""
    with surroundings.limited('cpu', round(SHARE * surroundings.PERIOD)) as group:
        (group / 'cgroup.procs').write_text(str(scene.node.pid))
        time.sleep(HOLD)
    yield


@contextmanager
def competitors(_: Scene) -> Iterator[None]:
    """Keep every processor busy for a while."""
    burners = [os.spawnlp(os.P_NOWAIT, 'sh', 'sh', '-c', 'while :; do :; done')
               for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        time.sleep(HOLD)
    finally:
        for burner in burners:
            os.kill(burner, signal.SIGKILL)
            os.waitpid(burner, 0)
    yield


def others_middleware() -> list[str]:
    """Return the middlewares that are installed beside the one in use."""
    used = os.environ.get('RMW_IMPLEMENTATION', 'rmw_fastrtps_cpp')
    return sorted(set(get_resources('rmw_typesupport')) - {used, 'rmw_implementation'})


def why_no_other_middleware() -> str:
    """Return why the middleware cannot be changed, or nothing."""
    return '' if others_middleware() else 'expected another middleware than rmw_fastrtps_cpp'


@contextmanager
def other_middleware() -> Iterator[Stage]:
    """Return a stage on another middleware."""
    yield Stage(environment={'RMW_IMPLEMENTATION': others_middleware()[0]})


@contextmanager
def simulated_time() -> Iterator[Stage]:
    """Return a stage in simulated time."""
    yield Stage(simulated=True)


FAULTS = (
    Fault('publisher killed for 3 s', publisher_killed, fed=True),
    Fault('node killed, respawned', node_killed),
    Fault('its server killed, respawned', server_killed, helped=True),
    Fault('node stands still for 3 s', node_stopped),
    Fault('two nodes of one name', two_nodes),
    Fault('two publishers', two_publishers, fed=True),
    Fault('30 % dropped, delayed by up to 50 ms, reordered', poor_link, fed=True),
    Fault('a fifth of a processor for 3 s', little_processor,
          impossible=lambda: surroundings.why_not_limited('cpu')),
    Fault('other programs on all processors for 3 s', competitors),
    Fault('disk of the logs fills', disk_fills, impossible=surroundings.why_not_root),
    Fault('start on a full disk', started(full_disk), impossible=surroundings.why_not_root),
    Fault('start with a read-only home', started(surroundings.read_only_home),
          impossible=surroundings.why_not_root),
    Fault('start in 400 MB', little_memory,
          impossible=lambda: surroundings.why_not_limited('memory')),
    Fault('simulated time 10 s back', clock_set(-JUMP), simulated_time),
    Fault('simulated time 10 s forward', clock_set(JUMP), simulated_time),
    Fault('simulated time paused for 3 s', time_paused, simulated_time),
    Fault('simulated time looped', time_looped, simulated_time),
    Fault('system clock 10 s back', system_clock_set(-JUMP), surroundings.false_clock,
          surroundings.why_not_faketime),
    Fault('system clock 10 s forward', system_clock_set(JUMP), surroundings.false_clock,
          surroundings.why_not_faketime),
    Fault('network down for 3 s', network_down, surroundings.two_networks,
          surroundings.why_not_root),
    Fault('on another middleware', node_killed, other_middleware, why_no_other_middleware),
)
