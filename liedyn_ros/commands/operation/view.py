# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Show a robot, moved by its topics or by sliders, in a browser.

`liedyn view robot.urdf`; the same node runs by `ros2 run liedyn_ros robot_view`, with parameters.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node and its page until Ctrl-C; return 0. Raises SystemExit(2) without a start."""
    own, of_node = split(sys.argv[1:] if arguments is None else arguments)
    options, others = parser().parse_known_args(own)
    parameters = [] if options.model is None else ['-p', f'model_file:={options.model.resolve()}']
    if options.geometry is not None:
        parameters += ['-p', f'geometry_file:={options.geometry.resolve()}']
    if options.port is not None:
        parameters += ['-p', f'port:={options.port}']
    from liedyn_ros.view import __main__ as view
    view.main([*others, '--ros-args', *of_node, *parameters], stays=False)
    return 0


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments before `--ros-args`, and those after it, whose files are no models."""
    words = list(arguments)
    begin = words.index('--ros-args') if '--ros-args' in words else len(words)
    return words[:begin], words[begin + 1:]


def parser() -> argparse.ArgumentParser:
    """Return the options of `liedyn view`."""
    result = argparse.ArgumentParser(
        prog='liedyn view', description='Show a robot, moved by its topics or by sliders, in a '
        'browser. Further arguments go to the node: --ros-args -p use_sim_time:=true')
    result.add_argument('model', nargs='?', type=Path, help=(
        'the robot: .urdf, .xacro, .xml (MJCF), .sdf or .yaml; default: the topic '
        'robot_description'))
    result.add_argument('--geometry', type=Path, metavar='FILE',
                        help='geometry file of a Stewart platform')
    result.add_argument('--port', type=int, help='port of the page, by default 8080')
    return result
