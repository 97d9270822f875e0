# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The C library beside Pinocchio, both called from C++: python -m benchmarks.c_library.

Pinocchio runs twice: the library of its wheel, and compiled header only for this processor. Both
libraries take turns in one process; a ratio is the median of the rounds. Closed loops are those of
benchmarks.algorithms.constrained, beside constraintDynamics and lcaba. It needs g++, the wheels
pin and cmeel-eigen, and the objects of `python -m liedyn_ros.build.c_library`. Compiling
Pinocchio takes minutes and 3 GB.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
import statistics
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.algorithms import constrained
from benchmarks.algorithms.dynamics import Peer
from benchmarks.record import keep, verdict
from benchmarks.robots import Robot, robots
from liedyn_ros.build.c_interface import CALLS
from liedyn_ros.build.c_library import build_objects
from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.export import write_loops, write_model
from liedyn_ros.stewart import load_geometry

ROOT = Path(__file__).parents[2]
SOURCES = tuple(sorted(path.name for path in (ROOT / 'libliedyn/src').glob('*.c')))
DEFINITIONS = (
    'BOOST_MPL_LIMIT_LIST_SIZE=30', 'BOOST_MPL_LIMIT_VECTOR_SIZE=30',
    'BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS', 'BOOST_FUSION_INVOKE_MAX_ARITY=12')
# Another Eigen than that of the wheel's library ends in a segmentation fault, and so does another
# processor's alignment. What is compiled for this processor links no library of the wheel.
KINDS = {
    'library': ('-O3', '-DNDEBUG', '-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION',
                '-lpinocchio_default'),
    'header only': ('-O3', '-DNDEBUG', '-march=native')}
STATES, ROUNDS = 16, 41
TARGETS = {'rnea': 0.9, 'aba': 0.9, 'crba': 0.9, 'rnea derivatives': 0.8, 'aba derivatives': 0.8,
           'constrained dynamics': 0.8, 'constrained derivatives': 0.8}
Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every machine, print the table and keep it as JSON."""
    parser = argparse.ArgumentParser(prog='benchmarks.c_library', description=__doc__)
    parser.add_argument('--build', type=Path, default=Path('out/c_library'),
                        help='folder for objects and programs, which are made if missing')
    parser.add_argument('--kinds', nargs='+', choices=list(KINDS), default=list(KINDS),
                        help='what of Pinocchio to compare with')
    parser.add_argument('--rounds', type=int, default=ROUNDS)
    parser.add_argument('--machines', nargs='+', choices=['trees', 'loops'],
                        default=['trees', 'loops'])
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    print(f'{"machine":24}{"algorithm":20}{"Pinocchio":14}{"libliedyn":>10}{"peer":>10}'
          f'{"ratio":>7}')
    for kind in options.kinds:
        for name, nv, found in _figures(options, kind):
            for row in found:
                rows.append({'machine': name, 'nv': nv, 'kind': kind, **row})
                print(_line(rows[-1]), flush=True)
    keep('c_library', {'unit': 'us', 'pinocchio': pin.__version__, 'rows': rows})


def _figures(options: argparse.Namespace, kind: str) -> Iterator[tuple[str, int, Iterable[Row]]]:
    """Yield of each machine its name, coordinates, and rows."""
    folder = options.build.resolve()
    if 'trees' in options.machines:
        program = built(folder, kind, 'beside')
        for name, robot in robots().items():
            yield name, robot.model.nv, measure(program, robot, options.rounds)
    if 'loops' in options.machines:
        program = built(folder, kind, 'loops')
        geometry = load_geometry(config_file('stewart_geometry.yaml'))
        for name, machine in (('Stewart platform', constrained.stewart(geometry)),
                              ('two legs', constrained.two_legs())):
            yield name, machine.model.nv, measure_loops(program, machine, options.rounds)


def built(folder: Path, kind: str, source: str) -> Path:
    """Return the program that calls both libraries; compile it where it is missing."""
    program = folder / f"{source}_{kind.replace(' ', '_')}"
    objects = folder / 'objects'
    if not (objects / 'liedyn_kernels.h').exists():
        build_objects(objects)
    if not program.exists():
        wheel = metadata.distribution('cmeel-eigen').locate_file('cmeel.prefix')
        flags = KINDS[kind]
        _run('gcc', '-std=gnu11', '-O2', '-c', *(f'-I{each}' for each in (
            objects / 'include', objects, ROOT / 'libliedyn/src')), objects / CALLS,
             *(ROOT / 'libliedyn/src' / name for name in SOURCES), cwd=folder)
        _run('g++', '-std=c++17', '-Wno-deprecated-declarations',
             *(f'-D{each}' for each in DEFINITIONS),
             *(flag for flag in flags if not flag.startswith('-l')),
             '-I', objects / 'include', '-isystem', f'{wheel}/include',
             '-isystem', f'{wheel}/include/eigen3', ROOT / f'benchmarks/c_library/{source}.cpp',
             *(folder / f'{Path(name).stem}.o' for name in (*SOURCES, CALLS)),
             *sorted(objects.glob('x86_64*.o')), f'-L{wheel}/lib', f'-Wl,-rpath,{wheel}/lib',
             *(flag for flag in flags if flag.startswith('-l')), '-o', program)
    return program


def measure(program: Path, robot: Robot, rounds: int) -> Iterator[Row]:
    """Yield the figures of each algorithm: medians (us), and the median ratio of the rounds."""
    model, peer = robot.model, Peer(robot)
    rng = np.random.default_rng(0)
    ours = Dynamics(model, dissipation=False)
    states = []
    for _ in range(STATES):
        q, v, a = model.random(rng), *rng.normal(size=(2, model.nv))
        tau = ours.inverse(q, v, a)
        states += [q, v, a, tau, peer.configuration(q), *map(peer.velocity, (v, a, tau))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_model(folder / 'mine', model, dissipation=False, tree=True)
        (folder / 'theirs').write_text(''.join(joint_lines(peer.model)))
        yield from _best(_times(program, folder, states, rounds, 1e-9))


def measure_loops(program: Path, machine: constrained.Machine, rounds: int) -> Iterator[Row]:
    """Yield the figures of a machine with closed loops, as `measure` does."""
    model, peer = machine.model, constrained.Peer(machine)
    a = ConstrainedDynamics(model, dissipation=False).forward(
        machine.q, machine.v, machine.tau).a
    states = [machine.q, machine.v, machine.tau, *peer.state, a, a[peer.order]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_loops(folder / 'mine', model, order=0, dissipation=False)
        closures = (
            f'{index} ' + ' '.join(f'{x:.17g}' for x in (
                *placement.rotation.ravel(), *placement.translation)) + '\n'
            for closure in peer.constraints for index, placement in (
                (closure.joint1_id, closure.joint1_placement),
                (closure.joint2_id, closure.joint2_placement)))
        (folder / 'theirs').write_text(''.join((
            *joint_lines(peer.model), 'closures\n', *closures)))
        yield from _best(_times(program, folder, states, rounds, constrained.AGREEMENT))


def _times(program: Path, folder: Path, states: Sequence[Array], rounds: int, accuracy: float
           ) -> dict[str, list[tuple[float, float]]]:
    """Return what a program of files in a folder has measured, by algorithm."""
    np.concatenate(states).tofile(folder / 'states')
    printed = _run(program, folder / 'mine', folder / 'theirs', folder / 'states', rounds)
    times: dict[str, list[tuple[float, float]]] = {}
    for line in printed.splitlines():
        what, mine, theirs = line.split('\t')
        times.setdefault(what, []).append((float(mine), float(theirs)))
    scale = max(1.0, *(float(np.abs(state).max()) for state in states))
    worst = max(max(pair) for pair in times.pop('differences')) / scale
    if not worst < accuracy:
        raise SystemExit(f'expected results of both libraries as in Python, got {worst:.3g} off')
    return times


def joint_lines(model: Any) -> Iterator[str]:
    """Yield a line for each joint of Pinocchio's model, as the program reads it."""
    for k in range(1, model.njoints):
        joint, placement = model.joints[k], model.jointPlacements[k]
        of = joint.extract() if hasattr(joint, 'extract') else joint
        axes = ((*of.axis1, *of.axis2) if joint.shortname() == 'JointModelUniversal'
                else getattr(of, 'axis', np.zeros(3)))
        numbers = (*placement.rotation.ravel(), *placement.translation, *axes,
                   *model.inertias[k].toDynamicParameters())
        yield f'{joint.shortname()} {model.parents[k]} ' + ' '.join(
            f'{number:.17g}' for number in numbers) + '\n'


def _best(times: dict[str, list[tuple[float, float]]]) -> Iterator[Row]:
    """Yield a row for each algorithm; of two conventions of Pinocchio, the faster one."""
    found: dict[str, Row] = {}
    for what, pairs in times.items():
        name = what.partition(',')[0]
        row = {'algorithm': name, 'convention': what.partition(', ')[2],
               'libliedyn': statistics.median(mine for mine, _ in pairs),
               'pinocchio': statistics.median(theirs for _, theirs in pairs),
               'ratio': statistics.median(mine / theirs for mine, theirs in pairs),
               'target': TARGETS[name]}
        if name not in found or row['ratio'] > found[name]['ratio']:
            found[name] = row
    yield from found.values()


def _run(*command: object, cwd: Path | None = None) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, cwd=cwd)
    if done.returncode != 0:
        sys.exit(f'{command[0]}: {done.returncode}\n{done.stderr[-2000:]}')
    return done.stdout


def _line(row: Row) -> str:
    what = f'{row["algorithm"]} {row["convention"]}'.strip()
    kept = verdict(row['ratio'], row['target'])
    return (f'{row["machine"]:24}{what:20}{row["kind"]:14}{row["libliedyn"]:10.3f}'
            f'{row["pinocchio"]:10.3f}{row["ratio"]:7.2f}{kept:>12}')


if __name__ == '__main__':
    main()
