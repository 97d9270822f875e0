# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Compile the kernels of nodes ahead, so that their first start is as quick as any other.

`ros2 run liedyn_ros warm_up` for all nodes, `ros2 run liedyn_ros warm_up stewart_pose` for one, or
the same with `python -m liedyn_ros.warm_up`. Run it as the user of the nodes, after a build and
after an upgrade. No kernel depends on the model or geometry: they are all compiled.
"""

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import wait
import sys
import time

from liedyn_ros.jit.cache import cache_state, COUNTS
from liedyn_ros.nodes.aerial.controller import AerialManipulatorControllerNode
from liedyn_ros.nodes.aerial.simulator import AerialManipulatorSimulatorNode
from liedyn_ros.nodes.dynamics.algorithms import warm_up_loops
from liedyn_ros.nodes.dynamics.platform_answers import warm_up_platform
from liedyn_ros.nodes.dynamics.server import DynamicsServerNode
from liedyn_ros.nodes.loops.state_publisher import LoopStatePublisherNode
from liedyn_ros.nodes.stewart.controller import StewartControllerNode
from liedyn_ros.nodes.stewart.dynamics_simulator import StewartDynamicsSimulatorNode
from liedyn_ros.nodes.stewart.pose.node import StewartPoseNode
from liedyn_ros.nodes.stewart.simulator import StewartSimulatorNode
from liedyn_ros.ros.node.warm_up import start_warm_up

PROGRESS_PERIOD = 10.0  # s
INTERRUPTED = 130  # exit code, as shells have it
# The calls of each node: its kernels, and those of some of its configurations.
WARM_UPS: dict[str, tuple[Callable[[], None], ...]] = {
    'stewart_pose': (StewartPoseNode.warm_up,),
    'stewart_simulator': (StewartSimulatorNode.warm_up,),
    'stewart_dynamics_simulator': (StewartDynamicsSimulatorNode.warm_up,),
    'stewart_controller': (StewartControllerNode.warm_up,),
    'dynamics_server': (DynamicsServerNode.warm_up, warm_up_loops, warm_up_platform),
    'loop_state_publisher': (LoopStatePublisherNode.warm_up,),
    'aerial_manipulator_simulator': (AerialManipulatorSimulatorNode.warm_up,),
    'aerial_manipulator_controller': (AerialManipulatorControllerNode.warm_up,),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile; return 0 where all kernels are in the cache now, else 1."""
    options = parser().parse_args(arguments)
    nodes = options.nodes or list(WARM_UPS)
    try:
        right = [compile_for(node) for node in nodes]
    except KeyboardInterrupt:
        print('interrupted; the next start finds what is compiled', file=sys.stderr)
        return INTERRUPTED
    state = cache_state()
    print(f'{COUNTS.compiled} kernels compiled, {COUNTS.loaded} loaded; {state.folder} holds '
          f'{state.kernels}, {state.size / 1e6:.0f} MB')
    if COUNTS.not_kept:
        print(f'{COUNTS.not_kept} kernels are not kept: each start compiles them again',
              file=sys.stderr)
    return 0 if all(right) and not COUNTS.not_kept else 1


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='warm_up', description='Compile the kernels of nodes ahead of their first start.')
    result.add_argument('nodes', nargs='*', metavar='node', choices=[*WARM_UPS, []],
                        help=f'{", ".join(WARM_UPS)}; all of them where none is named')
    return result


def compile_for(node: str) -> bool:
    """Call all kernels of a node and print the progress; return whether none failed."""
    began, compiled, loaded = time.monotonic(), COUNTS.compiled, COUNTS.loaded
    for warm_up in WARM_UPS[node]:
        kernels = start_warm_up(warm_up)
        while wait([kernels], PROGRESS_PERIOD).not_done:
            print(f'{node}: compiled {COUNTS.compiled - compiled} kernels, '
                  f'{time.monotonic() - began:.0f} s', flush=True)
        if (error := kernels.exception()) is not None:
            print(f'{node}: {error}', file=sys.stderr)
            return False
    print(f'{node}: ready; {COUNTS.compiled - compiled} kernels compiled, '
          f'{COUNTS.loaded - loaded} loaded, {time.monotonic() - began:.1f} s', flush=True)
    return True


if __name__ == '__main__':
    sys.exit(main())
