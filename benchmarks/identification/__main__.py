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
recording by a fit of the others, from the same URDF and the same samples. Terms of friction,
weight of the prior and cut-offs are chosen by these others too; which of FIGAROH's fits is the
best, by the parts that are reported.
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
from liedyn_ros.identification import Identification, identify, Recording
from liedyn_ros.identification.equations import Equations, equations_of, with_terms
from liedyn_ros.identification.estimate import Estimator, refitted_friction
from liedyn_ros.identification.joints import FRICTION_TERMS, MORE_TERMS
from liedyn_ros.identification.motion import Motion
from liedyn_ros.identification.motion.motion import END_PERIODS, motion_of
from liedyn_ros.identification.motion.spectrum import MAX_CUTOFF, smoothed
from liedyn_ros.identification.robust_fit import repetition
from liedyn_ros.model import load_model, Model, ModelBuilder, to_urdf

Array = NDArray[np.float64]
PARTS = 5
GAP = 0.5  # s on both sides of a part, which no fit sees
SLOW = 5.0  # Hz, below which errors are compared too
RANK_TOLERANCE = 1e-9  # of the largest singular value of normalised columns
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


def chosen(case: Case, model: Model, seen: NDArray[np.bool_]) -> Identification:
    """Return prior, cut-offs and terms that identify chooses by some samples (n,) alone."""
    recording, terms = recorded(case, model, seen), tuple[str, ...](FRICTION_TERMS)
    found = identify(model, recording, sure=True)
    while found.missing:  # as the verdict says, one after the other
        terms = (*terms, found.missing[0])
        found = identify(model, recording, sure=True, friction=terms)
    print('terms:', *terms, '- prior', found.prior, '- cut-off, Hz', found.equations.cutoff,
          flush=True)
    return found


def recorded(case: Case, model: Model, seen: NDArray[np.bool_]) -> Recording:
    """Return some samples (n,) of a recording, in the order of the model's coordinates."""
    order = [case.joints.index(name) for name in model.coordinate_names]
    return Recording(
        model, case.time[seen], case.q[seen][:, order], case.tau[seen][:, order],
        None if case.v is None else case.v[seen][:, order])


def ours(case: Case, model: Model) -> tuple[dict[str, Array], Array, float]:
    """
    Return unseen forces (n, joints) of two methods, floors (2, joints), time of one fit (s).

    All that identify chooses for a part, it chooses by the others; then the part is predicted.
    Floors are below `case.cutoff` and SLOW, mean squares; the time is the processor's.
    """
    whole = recorded(case, model, np.ones(len(case.time), dtype=bool))
    back = [model.coordinate_names.index(name) for name in case.joints]
    found = {name: np.full(case.tau.shape, np.nan) for name in (
        'given, friction fitted', 'liedyn_ros')}
    floors, used = list[list[Array]](), 0.0
    for part, seen in parts_of(case.time):
        choice = chosen(case, model, seen)
        begin = time.process_time()
        motion = motion_of(model, whole, least=min(
            float(choice.motion.cutoff.min()), whole.rate))
        equations = as_chosen(choice, motion, choice.equations.cutoff)
        rows = np.interp(equations.time, case.time, seen) == 1.0
        fit = Estimator(model, equations, rows).at(choice.prior)
        used = time.process_time() - begin
        full = as_chosen(choice, motion, np.inf)
        for name, x in zip(found, (refitted_friction(model, equations, rows), fit.consistent)):
            # Predictions end at the frequency at which those of the others do.
            forces = smoothed(full.rows @ x, case.cutoff, motion.rate)[:, back]
            found[name][part] = np.column_stack([
                np.interp(case.time[part], full.time, each) for each in forces.T])
        floors.append([floor(as_chosen(choice, motion, min(case.cutoff, end)))[back]
                       for end in (np.inf, SLOW)])
    return found, np.mean(floors, axis=0), used


def as_chosen(choice: Identification, motion: Motion, cutoff: float) -> Equations:
    """Return the equations of another motion with the terms of a choice, to a cut-off (Hz)."""
    equations = equations_of(choice.given, motion, cutoff=min(cutoff, MAX_CUTOFF * motion.rate))
    more = tuple(each for each in choice.equations.extra if each.kind in MORE_TERMS)
    return with_terms(choice.given, motion, equations, more, choice.estimate.plain.x[
        :equations.base.rank]) if more else equations


def floor(equations: Equations) -> Array:
    """
    Return the mean squares (f,) that a fit of each joint alone leaves, which saw all samples.

    Fits take as many errors with them as they have unknowns. No model of these terms that is one
    for all samples is off by less.
    """
    result = np.zeros(equations.forces.shape[1])
    for j, forces in enumerate(equations.forces.T):
        rows = equations.rows[:, j]
        rows = rows / np.maximum(np.linalg.norm(rows, axis=0), np.finfo(float).tiny)
        x, _, rank, _ = np.linalg.lstsq(rows, forces, rcond=RANK_TOLERANCE)
        result[j] = ((forces - rows @ x)**2).sum() / (len(forces) - rank)
    return result


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
    """
    Return 2.5 and 97.5 % points (2,) of a ratio of rms errors (n,) of a joint, blocks resampled.

    Blocks are as long as errors that last as those below SLOW need (Carlstein 1986): noise above
    is of the measured forces, alike in both.
    """
    rate = 1.0 / float(np.median(np.diff(clock)))
    lasting = max(float(repetition(smoothed(each[:, None], SLOW, rate))[0])
                  for each in (errors, others))
    alike = (lasting - 1.0) / (lasting + 1.0)  # from a sample to the next
    size = max(1, round((np.sqrt(6.0) * alike / (1.0 - alike**2))**(2.0 / 3.0) * len(clock)**(
        1.0 / 3.0)))
    block = np.arange(len(clock)) // size
    squares = [np.bincount(block, each**2) for each in (errors, others)]
    rng = np.random.default_rng(0)
    some = rng.integers(len(squares[0]), size=(SETS, len(squares[0])))
    return np.asarray(np.quantile(np.sqrt(
        squares[0][some].sum(axis=1) / squares[1][some].sum(axis=1)), (0.025, 0.975)))


def compared(clock: Array, left: dict[str, Array], floors: Array, joints: Sequence[str]
             ) -> list[list[str]]:
    """Return rows of rms errors by method, and ours over each peer's with its interval."""
    sizes = {key: np.sqrt(np.mean(each**2, axis=0)) for key, each in left.items()}
    peers = [key for key in left if key not in ('liedyn_ros', 'given, friction fitted')]
    own = left['liedyn_ros']
    rows = []
    for k, joint in enumerate(joints):
        ratios = [(sizes['liedyn_ros'][k] / sizes[key][k], *interval(
            clock, own[:, k], left[key][:, k])) for key in peers]
        rows.append([joint, *(f'{each[k]:.4g}' for each in sizes.values()), f'{floors[k]:.4g}',
                     *('{:.2f} ({:.2f} to {:.2f})'.format(*each) for each in ratios)])
    return rows


def compare(name: str, case: Case, python: str | None) -> None:
    """Print the errors of one recording."""
    model = held(case)
    found, floors, used = ours(case, model)
    times = {'liedyn_ros': used}
    if python is not None:
        others, their_times = theirs(case, model, python)
        times |= their_times
        found |= others
    clock, rate = case.time, 1.0 / float(np.median(np.diff(case.time)))
    found['plain least squares'] = plain_forces(
        case, to_urdf(model), np.array(parts_of(clock), dtype=float))
    print_errors(name, case, found, floors, rate)
    print('processor time of one fit, s:', ', '.join(
        f'{key} {value:.2f}' for key, value in times.items()))


def print_errors(name: str, case: Case, found: dict[str, Array], floors: Array, rate: float
                 ) -> None:
    """Print the errors of forces (n, joints), and floors (2, joints), mean squares."""
    clock = case.time
    found = {key: each for key, each in found.items() if all(  # a method that found no solution
        np.isfinite(each[part]).any() for part, _ in parts_of(clock))}
    end = END_PERIODS / case.cutoff  # in which filters swing in
    good = np.all([np.isfinite(each).all(axis=1) for each in found.values()], axis=0) & (
        clock >= clock[0] + end) & (clock <= clock[-1] - end)
    for what, least, limit in zip(('all frequencies', f'below {SLOW:g} Hz'), floors, (
            np.inf, SLOW)):
        def filtered(x: Array, limit: float = limit) -> Array:
            return smoothed(x, limit, rate) if limit < np.inf else x

        over = filtered(case.tau) - smoothed(case.tau, min(case.cutoff, limit), rate)
        print(f'\n{name}, {what}: rms of unseen forces, N m or N, what a fit that saw them leaves '
              '(floor), and ours over theirs (95 %)')
        print_table(['joint', *found, 'floor', *list(found)[2:]], compared(clock[good], {
            key: filtered((case.tau - each)[good]) for key, each in found.items()}, np.sqrt(
                least + np.mean(over[good]**2, axis=0)), case.joints))


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
