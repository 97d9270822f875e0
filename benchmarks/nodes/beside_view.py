# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
What a live view costs the pose node: how old poses are at 1 kHz, alone and beside two viewers.

Viewers are clients of the page that read all it sends and draw nothing, as browsers on other
machines do. In the last scene one of them reads nothing. Scenes take turns. The view draws at its
default rate. Columns are those of benchmarks.nodes.freshness.

    python -m benchmarks.nodes.beside_view [--seconds S] [--turns N]
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, ExitStack
from multiprocessing import get_context
from pathlib import Path
import re
import subprocess
import sys
import time
from typing import Any

import rclpy
import viser
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from benchmarks.nodes.accounts import joined
from benchmarks.nodes.streams import Bench
from benchmarks.processes import Beside, end_process, exit_at_sigterm
from benchmarks.record import keep
from liedyn_ros.common.markup import print_table

RATE = 1000.0  # Hz
SECONDS, TURNS = 10.0, 3
START_LIMIT = 240.0  # s
NODE = f'{sys.executable} -m liedyn_ros.nodes.stewart.pose'
LOG = Path('out/bench/view.log')
SCENES: dict[str, tuple[bool, ...]] = {  # which of its viewers read
    'alone': (), 'beside two viewers': (True, True), 'one viewer reads nothing': (True, False)}
COLUMNS = ('age median', 'age 99 %', 'age greatest', 'poses a second', 'lost %', 'CPU %')


def look(address: str, reads: bool, received: Any, stop: Any) -> None:
    """Be a viewer until the stop flag is set; count the bytes that came."""
    with connect(address.replace('http', 'ws'), subprotocols=[f'viser-v{viser.__version__}'],
                 max_size=None) as page:
        while not stop.is_set():
            if not reads:
                stop.wait(0.1)
                continue
            try:
                received.value += len(page.recv(timeout=0.1))
            except TimeoutError:
                continue
            except ConnectionClosed:
                break


@contextmanager
def viewed(readers: tuple[bool, ...]) -> Iterator[list[Any]]:
    """Run the view with its viewers, unless there are none; provide the bytes that each got."""
    if not readers:
        yield []
        return
    LOG.parent.mkdir(parents=True, exist_ok=True)
    context = get_context('spawn')
    with LOG.open('w') as output, ExitStack() as stack:
        view = subprocess.Popen(
            [sys.executable, '-m', 'liedyn_ros.view', '--ros-args', '-p', 'port:=18341'],
            stdout=output, stderr=output)
        stack.callback(end_process, view)
        address, stop = _address(view), context.Event()
        received = [context.Value('q', 0) for _ in readers]
        for reads, count in zip(readers, received):
            viewer = Beside(target=look, args=(address, reads, count, stop))
            viewer.start()
            stack.callback(viewer.join)
        stack.callback(stop.set)
        time.sleep(2.0)
        yield received


def _address(view: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + START_LIMIT
    while view.poll() is None and time.monotonic() < end:
        found = re.search(r'the view is on (\S+)', LOG.read_text(encoding='utf-8'))
        if found:
            return found[1]
        time.sleep(0.1)
    raise RuntimeError(f'expected a page within {START_LIMIT:g} s; see {LOG}')


def measure(readers: tuple[bool, ...], seconds: float) -> dict[str, float]:
    """Return the figures of the pose node in a scene."""
    with ExitStack() as stack:
        bench = Bench(stack, NODE, RATE)
        received = stack.enter_context(viewed(readers))
        figures = bench.measure(seconds)
        for reads, count in zip(readers, received):
            if reads and not count.value:
                raise RuntimeError('a viewer that reads got nothing')
        return figures


def main() -> None:
    """Print the table, and keep it."""
    parser = ArgumentParser(description=__doc__.split('\n')[1])
    parser.add_argument('--seconds', type=float, default=SECONDS)
    parser.add_argument('--turns', type=int, default=TURNS)
    options = parser.parse_args()
    exit_at_sigterm('turn')
    rclpy.init()
    try:
        turns = [{scene: measure(readers, options.seconds) for scene, readers in SCENES.items()}
                 for _ in range(options.turns)]
    finally:
        rclpy.try_shutdown()
    rows = [{'scene': scene, **joined([each[scene] for each in turns])} for scene in SCENES]
    for scene in SCENES:
        print(scene, ' '.join(f'{each[scene]["age 99 %"]:.3g}' for each in turns), 'ms at 99 %')
    print_table(('scene', *COLUMNS), [[row['scene'], *(f'{row[name]:.3g}' for name in COLUMNS)]
                                      for row in rows])
    keep('beside_view', {'rows': rows})


if __name__ == '__main__':
    main()
