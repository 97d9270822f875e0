# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Write the model file of a machine for `libliedyn`: `liedyn export robot.urdf -o robot.liedyn`.

Also `liedyn export`.
"""

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
import subprocess
import sys

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics.constrained.inverse_kinematics import POSE
from liedyn_ros.export.casadi_source import write_casadi_source
from liedyn_ros.export.loops_file import DEFAULT_ORDER, write_loops
from liedyn_ros.export.model_file import write_model, write_platform
from liedyn_ros.model import annotate, load_model
from liedyn_ros.stewart import load_geometry
from liedyn_ros.stewart.platform.io.geometry_file import is_geometry_file


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file; return 0, or 1 where the description or the machine is refused."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if '--own-code' in given:
        given.remove('--own-code')
        return own_code(given)
    options = parser().parse_args(given)
    output = options.output or options.robot.with_suffix('.c' if options.casadi else '.liedyn')
    try:
        written = write(options, output)
    except (LiedynError, OSError) as error:
        print(f'liedyn export: {error}', file=sys.stderr)
        return 1
    print(f'{output}: {written}, {output.stat().st_size} bytes')
    return 0


def own_code(given: Sequence[str]) -> int:
    """Write the code of one robot, by the build of kernels, which is in a clone alone."""
    if find_spec('liedyn_ros.build') is None or find_spec('numba') is None:
        print('liedyn export: --own-code compiles: expected a clone with numba, as make build '
              'makes it', file=sys.stderr)
        return 1
    return subprocess.run(
        [sys.executable, '-m', 'liedyn_ros.build.own_code', *given], check=False).returncode


def write(options: argparse.Namespace, output: Path) -> str:
    """Write the file of a platform, a tree or a machine with closed loops; return what it is."""
    if is_geometry_file(options.robot):
        if (options.floating or options.no_dissipation or options.tree
                or options.loops or options.order is not None or options.measured is not None
                or options.start):
            raise LiedynError(f'{options.robot}: expected no --floating, --no-dissipation, '
                              '--tree, --loops, --order, --measured or --start, as it is the '
                              'geometry of a platform')
        geometry = load_geometry(options.robot)
        write_platform(output, geometry, length_bound=options.length_bound,
                       joint_bound=options.joint_bound)
        return f'platform {geometry.name!r}'
    if options.length_bound or options.joint_bound:
        raise LiedynError(f'{options.robot}: expected the geometry of a platform with '
                          f'--length-bound or --joint-bound, got another file')
    model = load_model(options.robot, floating=options.floating)
    if options.loops:
        model = annotate(model, options.loops)
    if options.casadi:
        write_casadi_source(output, model, frames=options.frames,
                            dissipation=not options.no_dissipation)
        return f'functions of {model!r} for CasADi'
    if options.reach or ((model.closures or model.couplings) and not options.tree):
        reach = {name: kind or POSE for name, _, kind in (
            each.partition('=') for each in options.reach)}
        write_loops(output, model, order=DEFAULT_ORDER if options.order is None else options.order,
                    dissipation=not options.no_dissipation, measured=options.measured, reach=reach,
                    start=model.rough_configuration(' '.join(options.start))
                    if options.start else None)
        return f'closed loops of {model!r}'
    if options.order is not None or options.measured is not None or options.start:
        name = next(f'--{each}' for each in ('order', 'measured', 'start')
                    if getattr(options, each) is not None)
        raise LiedynError(f'{name}: expected a machine with closed loops or couplings; the work '
                          'area of a tree takes any order')
    write_model(output, model, dissipation=not options.no_dissipation, tree=options.tree)
    return repr(model)


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='liedyn export', description='Write the model file of a machine for libliedyn.')
    result.add_argument('robot', type=Path,
                        help='file .urdf, .xacro, .sdf, .xml or .yaml, or the geometry of a '
                             'Stewart platform')
    result.add_argument('-o', '--output', type=Path,
                        help='model file; default: next to the robot, with the suffix .liedyn')
    result.add_argument('--floating', action='store_true', help='put the base on a free joint')
    result.add_argument('--no-dissipation', action='store_true',
                        help='leave out damping and friction of the joints')
    result.add_argument('--tree', action='store_true',
                        help='leave out closed loops and mimic joints')
    result.add_argument('--loops', type=Path, metavar='FILE',
                        help='.yaml with closures and couplings of a URDF')
    result.add_argument('--own-code', action='store_true',
                        help='write the code of this robot alone, object and header, in place of '
                             'a model file, in a clone; its options: python -m '
                             'liedyn_ros.build.own_code --help')
    result.add_argument('--reach', nargs='+', default=[], metavar='FRAME[=KIND]',
                        help='for inverse kinematics: frames with targets that move, of kind '
                             'pose, point, orientation or tool')
    result.add_argument('--casadi', action='store_true',
                        help='write C source of functions with Jacobians for casadi.external')
    result.add_argument('--frames', nargs='+', default=[], metavar='FRAME',
                        help='frames whose positions are functions too, with --casadi')
    result.add_argument('--order', type=int,
                        help='highest time derivative that closed loops take, by default '
                             f'{DEFAULT_ORDER}')
    result.add_argument('--measured', nargs='+', metavar='JOINT',
                        help='measured joints of closed loops, by default the actuated ones')
    result.add_argument('--start', nargs='+', metavar='JOINT:=POSITION',
                        help='rough positions that choose the assembly of closed loops; others '
                             'are 0')
    result.add_argument('--length-bound', type=float, default=0.0, metavar='M',
                        help='largest error of a leg length (m, rad of a crank), for the proofs')
    result.add_argument('--joint-bound', type=float, default=0.0, metavar='M',
                        help="largest error of a joint's centre (m), for the proofs")
    return result


if __name__ == '__main__':
    sys.exit(main())
