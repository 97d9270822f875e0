# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Identification beside FIGAROH and a plain least squares, on public recordings of real robots.

Clone the repositories of `benchmarks.identification.recordings` into one folder, by the names
there, make a Python of its own with `pip install figaroh`, then run
`python -m benchmarks.identification CLONES --figaroh PYTHON`. All predict each fifth of a
recording by a fit of the others, from the same URDF and the same samples.
"""

import argparse
from collections.abc import Sequence
import itertools
from pathlib import Path
import subprocess
import tempfile
import time

import numpy as np
from numpy.typing import NDArray

from benchmarks.identification.plain import plain_forces
from benchmarks.identification.recordings import Case, CASES
from liedyn_ros.common.markup import print_table
from liedyn_ros.identification import identify, Recording
from liedyn_ros.identification.equations import Equations, equations_of, with_terms
from liedyn_ros.identification.estimate import Estimator, refitted_friction
from liedyn_ros.identification.joints import FRICTION_TERMS, MORE_TERMS
from liedyn_ros.identification.motion.motion import END_PERIODS, motion_of
from liedyn_ros.identification.motion.spectrum import MAX_CUTOFF, smoothed
from liedyn_ros.model import load_model, Model, ModelBuilder, to_urdf

Array = NDArray[np.float64]
PARTS = 5
GAP = 0.5  # s on both sides of a part, which no fit sees
SLOW = 5.0  # Hz, below which errors are compared too
BLOCK = 1.0  # s, of which held-out samples are resampled; errors are alike over less
SETS = 4000  # of resampled blocks
METHODS = 'plain', 'weighted', 'possible'  # of FIGAROH
THEIRS = Path(__file__).with_name('fits_of_figaroh.py')


def parts_of(clock: Array) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Return which samples each part has, and which its fit sees, of all parts."""
    bounds = np.linspace(clock[0], clock[-1], PARTS + 1)
    return [((clock >= begin) & (clock <= end), (clock < begin - GAP) | (clock > end + GAP))
            for begin, end in itertools.pairwise(bounds)]


def held(case: Case) -> Model:
    """Return the model whose other joints stand still at 0."""
    whole = load_model(case.urdf)
    builder = ModelBuilder.of(whole)
    for joint in whole.joint_list:
        if joint.name not in case.joints and joint.type_name != 'fixed':
            builder.lock_joint(joint.name, 0.0)
    return builder.build()


def ours(case: Case, model: Model) -> tuple[Array, dict[str, Array], float]:
    """Return times, unseen forces of two methods, and processor time (s) of one fit."""
    order = [case.joints.index(name) for name in model.coordinate_names]
    recording = Recording(model, case.time, case.q[:, order], case.tau[:, order],
                          None if case.v is None else case.v[:, order])
    terms: tuple[str, ...] = FRICTION_TERMS
    chosen = identify(model, recording, sure=True)
    while chosen.missing:  # as the verdict says, one after the other
        terms = (*terms, chosen.missing[0])
        chosen = identify(model, recording, sure=True, friction=terms)
    more = tuple(each for each in chosen.equations.extra if each.kind in MORE_TERMS)
    load = chosen.estimate.plain.x[:chosen.equations.base.rank]

    def wide(equations: Equations) -> Equations:
        return with_terms(model, motion, equations, more, load) if more else equations

    print('terms:', *terms, '- prior', chosen.prior, '- cut-off, Hz', chosen.equations.cutoff)
    begin, motion = time.process_time(), chosen.motion
    motion_of(model, recording)
    equations = wide(equations_of(model, motion, cutoff=chosen.equations.cutoff))
    Estimator(model, equations, np.ones(len(equations.time), dtype=bool)).at(chosen.prior)
    used = time.process_time() - begin
    full = wide(equations_of(model, motion, cutoff=MAX_CUTOFF * motion.rate))
    found = {name: np.full(full.forces.shape, np.nan) for name in (
        'given, friction fitted', 'liedyn_ros')}
    bounds = np.linspace(case.time[0], case.time[-1], PARTS + 1)
    for begin_at, end_at in itertools.pairwise(bounds):
        seen = (equations.time < begin_at - GAP) | (equations.time > end_at + GAP)
        here = (full.time >= begin_at) & (full.time <= end_at)
        fit = Estimator(model, equations, seen).at(chosen.prior)
        for name, x in zip(found, (refitted_friction(model, equations, seen), fit.consistent)):
            found[name][here] = full.rows[here] @ x
    back = np.argsort(order)
    # Predictions end at the frequency at which those of the others do.
    return full.time, {name: smoothed(each, case.cutoff, motion.rate)[:, back]
                       for name, each in found.items()}, used


def theirs(case: Case, model: Model, python: str) -> tuple[dict[str, Array], dict[str, float]]:
    """Return the unseen forces (n, joints) of FIGAROH's fits, and processor time (s) of each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / 'robot.urdf').write_text(to_urdf(model), encoding='utf-8')
        masks = np.array([each for _, each in parts_of(case.time)])
        held_out = np.array([each for each, _ in parts_of(case.time)])
        empty = np.zeros((0, 0))
        np.savez(folder / 'data.npz', time=case.time, q=case.q, tau=case.tau, seen=masks,
                 part=held_out, v=empty if case.v is None else case.v)
        subprocess.run([python, str(THEIRS), str(folder), str(case.cutoff), *case.joints],
                       check=True)
        result = np.load(folder / 'result.npz')
        return ({f'FIGAROH, {name}': result[name] for name in METHODS},
                {f'FIGAROH, {name}': float(result[f'time of {name}']) for name in METHODS})


def interval(clock: Array, errors: Array, others: Array) -> Array:
    """Return 2.5 and 97.5 % points (2, joints) of a ratio of rms errors, blocks resampled."""
    block = ((clock - clock[0]) / BLOCK).astype(int)
    squares = [np.array([(each[block == k]**2).sum(axis=0) for k in np.unique(block)])
               for each in (errors, others)]
    rng = np.random.default_rng(0)
    chosen = rng.integers(len(squares[0]), size=(SETS, len(squares[0])))
    return np.asarray(np.quantile(np.sqrt(
        squares[0][chosen].sum(axis=1) / squares[1][chosen].sum(axis=1)), (0.025, 0.975), axis=0))


def compared(clock: Array, left: dict[str, Array], joints: Sequence[str]) -> list[list[str]]:
    """Return rows of rms errors by method, and ours over each peer's with its interval."""
    sizes = {key: np.sqrt(np.mean(each**2, axis=0)) for key, each in left.items()}
    peers = [key for key in left if key not in ('liedyn_ros', 'given, friction fitted')]
    bounds = {key: interval(clock, left['liedyn_ros'], left[key]) for key in peers}
    return [[joint, *(f'{each[k]:.4g}' for each in sizes.values()), *(
        f'{sizes["liedyn_ros"][k] / sizes[key][k]:.2f} ({bounds[key][0, k]:.2f} to '
        f'{bounds[key][1, k]:.2f})' for key in peers)] for k, joint in enumerate(joints)]


def compare(name: str, case: Case, python: str | None) -> None:
    """Print the errors of one recording."""
    model = held(case)
    clock, found, used = ours(case, model)
    times = {'liedyn_ros': used}
    if python is not None:
        others, their_times = theirs(case, model, python)
        times |= their_times
        for key, each in others.items():
            found[key] = np.column_stack([np.interp(clock, case.time, y) for y in each.T])
    whole = plain_forces(case, to_urdf(model), np.array(parts_of(case.time), dtype=float))
    found['plain least squares'] = np.column_stack([
        np.interp(clock, case.time, y) for y in whole.T])
    measured = np.column_stack([np.interp(clock, case.time, y) for y in case.tau.T])
    rate = 1.0 / float(np.median(np.diff(clock)))
    found = {key: each for key, each in found.items() if all(  # a method that found no solution
        np.isfinite(each[part]).any() for part, _ in parts_of(clock))}
    end = END_PERIODS / case.cutoff  # in which filters swing in
    good = np.all([np.isfinite(each).all(axis=1) for each in found.values()], axis=0) & (
        clock >= case.time[0] + end) & (clock <= case.time[-1] - end)
    for what, filtered in (('all frequencies', lambda x: x),
                           (f'below {SLOW:g} Hz', lambda x: smoothed(x, SLOW, rate))):
        print(f'\n{name}, {what}: rms of unseen forces, N m or N, and ours over theirs (95 % by '
              f'blocks of {BLOCK:g} s)')
        print_table(['joint', *found, *list(found)[2:]], compared(clock[good], {
            key: filtered((measured - each)[good]) for key, each in found.items()}, case.joints))
    print('processor time of one fit, s:', ', '.join(
        f'{key} {value:.2f}' for key, value in times.items()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare on the recordings that a folder has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('clones', type=Path, help='the folder with the clones')
    parser.add_argument('--figaroh', help='a Python that has figaroh; without it only ours')
    parser.add_argument('--robots', nargs='*', choices=list(CASES), default=list(CASES))
    options = parser.parse_args(arguments)
    for name in options.robots:
        compare(name, CASES[name](options.clones), options.figaroh)


if __name__ == '__main__':
    main()
