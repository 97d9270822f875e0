# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""
Ages of commands in the control loops of a Stewart platform and of an aerial manipulator.

    python -m benchmarks.nodes.control_ages [--seconds S] [--write]

Simulators publish states at a rate, controllers answer by themselves or through the dynamics
server, and a recorder at real-time priority takes the commands. The age of a command is the time
from the stamp of the state that it answers until it arrives, in ms. The loops run one after the
other; on a machine that others use, the load says what the ages mean.
"""

from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import ExitStack
import os
from pathlib import Path
import sys
import time

import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState

from benchmarks.document import linked, renew
from benchmarks.faults.subjects import SUBJECTS
from benchmarks.nodes.priority import raise_priority
from benchmarks.processes import exit_at_sigterm
from benchmarks.record import keep
from benchmarks.together.fleet import Member
from liedyn_ros.common.checks import Array
from liedyn_ros.common.markup import print_table
from liedyn_ros.ros.messages.conversions import nanoseconds

PAGE = Path('docs/results.md')
LOOPS = {  # the nodes with parameters of their rate, and the topic of commands
    'platform': ((('stewart_dynamics_simulator', 'rate'), ('stewart_pose', ''),
                  ('stewart_controller', '')), 'leg_forces'),
    'vehicle': ((('aerial_manipulator_simulator', 'publish_rate'), ('dynamics_server', ''),
                 ('aerial_manipulator_controller', '')), 'rotor_speeds')}
RATES = 250.0, 1000.0  # Hz
PERCENTILES = 50.0, 99.0, 99.9, 99.99, 100.0
SETTLED, LIMIT = 2.0, 120.0  # s after the first command; s until there is one


def ages_of(loop: str, rate: float, seconds: float) -> tuple[Array, float]:
    """Return the ages (n,) of commands, ms, and the share of a processor that all nodes took."""
    nodes, topic = LOOPS[loop]
    known = {subject.node: subject for subject in SUBJECTS.values()}
    found: list[float] = []
    node = rclpy.create_node('recorder')
    executor = SingleThreadedExecutor()
    executor.add_node(node)

    def take(message: JointState) -> None:
        found.append(1e-6 * (node.get_clock().now().nanoseconds - nanoseconds(
            message.header.stamp)))
    node.create_subscription(JointState, f'/{loop}/{topic}', take, 100)
    with ExitStack() as stack:
        members = [Member(stack, loop, known[name], *(
            [f'{parameter}:={rate}'] if parameter else
            ['model_file:=aerial_manipulator.yaml'] if name == 'dynamics_server' else []))
            for name, parameter in nodes]
        begun, cpu = time.monotonic(), 0.0
        while time.monotonic() < begun + (LIMIT if not found else seconds + SETTLED):
            waits = not found
            executor.spin_once(timeout_sec=0.1)
            if time.monotonic() < begun + SETTLED:
                del found[1:]  # as all begin
            if found and waits:
                begun, cpu = time.monotonic(), sum(member.cpu() for member in members)
        if not found:
            raise SystemExit(f'{loop}: expected commands within {LIMIT:g} s, got none')
        cpu = (sum(member.cpu() for member in members) - cpu) / (seconds + SETTLED)
    executor.shutdown()
    node.destroy_node()
    return np.array(found), cpu


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the loops, and print the ages."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=45.0, help='of each loop and rate')
    parser.add_argument('--write', action='store_true', help=f'renew {PAGE.name}')
    options = parser.parse_args(arguments)
    seconds = options.seconds
    exit_at_sigterm('loop')
    raise_priority()
    rclpy.init()
    rows = []
    for loop in LOOPS:
        for rate in RATES:
            ages, cpu = ages_of(loop, rate, seconds)
            rows.append((loop, f'{rate:g}', f'{len(ages)}', f'{cpu:.2f}', *(
                f'{np.percentile(ages, share):.2f}' for share in PERCENTILES),
                f'{os.getloadavg()[0]:.1f}'))
    columns = ('loop', 'rate, Hz', 'commands', 'processors',
               *(f'{share:g} %, ms' for share in PERCENTILES), 'load')
    print_table(columns, rows)
    print(keep('control_ages', {'rows': [dict(zip(columns, row)) for row in rows]}))
    if options.write:
        renew(PAGE, 'control_ages', linked('control_ages', columns, rows))
    rclpy.shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
