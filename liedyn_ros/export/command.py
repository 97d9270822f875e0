# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Write the model file of a robot for `libliedyn`: `liedyn_export robot.urdf -o robot.liedyn`.

Also `ros2 run liedyn_ros liedyn_export`, or `python -m liedyn_ros.export.command`.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.export.model_file import write_model
from liedyn_ros.model import load_model


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file; return 0, or 1 where the description or the model is refused."""
    options = parser().parse_args(arguments)
    output = options.output or options.robot.with_suffix('.liedyn')
    try:
        model = load_model(options.robot, floating=options.floating)
        write_model(output, model, dissipation=not options.no_dissipation, tree=options.tree)
    except (LiedynError, OSError) as error:
        print(f'liedyn_export: {error}', file=sys.stderr)
        return 1
    print(f'{output}: {model!r}, {output.stat().st_size} bytes')
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='liedyn_export', description='Write the model file of a robot for libliedyn.')
    result.add_argument('robot', type=Path, help='file .urdf, .xacro or .yaml')
    result.add_argument('-o', '--output', type=Path,
                        help='model file; by default beside the robot, with the suffix .liedyn')
    result.add_argument('--floating', action='store_true', help='put the base on a free joint')
    result.add_argument('--no-dissipation', action='store_true',
                        help='leave out damping and friction of the joints')
    result.add_argument('--tree', action='store_true',
                        help='leave out closed loops and mimic joints')
    return result


if __name__ == '__main__':
    sys.exit(main())
