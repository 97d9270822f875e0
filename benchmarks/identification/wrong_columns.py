# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
What identification says of recordings with one wrong column, called from Python.

`python -m benchmarks.identification.wrong_columns`: random arms of three to six joints, whose
description is off by a quarter and lacks friction, move for 24 s. A class is one way in which the
column of a random joint, or of the last one, is wrong. `named` is an error about that joint's
column, `other` another error, `doubt` a remark that names the joint, `silent` neither.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
import re
import sys
import time

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.markup import print_table
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification import identify, Recording
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia, with_inertias, with_resistances

Array = NDArray[np.float64]
RATE, SECONDS, PERIOD = 100.0, 24.0, 8.0
OUTCOMES = 'named', 'other', 'doubt', 'silent'
_Change = Callable[[Array, Array, int, np.random.Generator], None]  # of q and tau, in place


def random_arm(rng: np.random.Generator) -> Model:
    """Return an arm with friction whose first axis is upright, lighter towards the hand."""
    builder, parent, last = ModelBuilder('arm'), None, 2
    for k in range(int(rng.integers(3, 7))):
        size, length = 5.0 * 0.6**k, rng.uniform(0.15, 0.4)
        points = rng.normal(size=(8, 3)) * [0.05, 0.05, 0.3 * length] + [0.0, 0.0, 0.45 * length]
        shares = rng.uniform(0.5, 1.5, 8)
        shares *= size * rng.uniform(0.7, 1.3) / shares.sum()
        center = shares @ points / shares.sum()
        arms = points - center
        builder.add_body(f'link_{k}', SpatialInertia(shares.sum(), center, np.einsum(
            'i,ij,ij', shares, arms, arms) * np.eye(3) - (shares * arms.T) @ arms))
        last = int(rng.choice([i for i in range(3) if i != last])) if parent else 2
        place = np.eye(4)
        place[2, 3] = length if parent else 0.0
        builder.add_joint(
            f'joint_{k}', 'revolute', parent, f'link_{k}', axis=np.eye(3)[last], placement=place,
            damping=rng.uniform(0.05, 0.2) * size, friction=rng.uniform(0.05, 0.2) * size,
            limits={'lower': -3.0, 'upper': 3.0})
        parent = f'link_{k}'
    return builder.build()


def recorded(model: Model, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return time (n,), q and tau (n, nv), with noise."""
    clock, k = np.arange(int(SECONDS * RATE)) / RATE, 2.0 * np.pi / PERIOD * np.arange(1, 5)
    sine, cosine = rng.normal(size=(2, 4, model.nv)) * 0.4
    s, c = np.sin(np.outer(clock, k)), np.cos(np.outer(clock, k))
    q = s @ sine + c @ cosine + rng.uniform(-0.8, 0.8, model.nv)
    tau = Dynamics(model).inverse.batch(
        q, (c * k) @ sine - (s * k) @ cosine, -(s * k**2) @ sine - (c * k**2) @ cosine)
    tau += 0.02 * np.sqrt((tau**2).mean(axis=0)) * rng.normal(size=tau.shape)
    return clock, q + 1e-5 * rng.normal(size=q.shape), tau


def described(model: Model, rng: np.random.Generator) -> Model:
    """Return a model whose bodies are off by a quarter, without friction."""
    bodies = {}
    for each in model.body_list:
        if each.inertia is not None:
            factor, center = rng.uniform(0.75, 1.3), each.inertia.center_of_mass
            bodies[each.name] = SpatialInertia(
                factor * each.inertia.mass,
                center + 0.1 * np.abs(center).max() * rng.normal(size=3),
                factor * each.inertia.inertia_about_com).parameters()
    nothing = dict.fromkeys(model.coordinate_names, 0.0)
    return with_resistances(with_inertias(model, bodies), nothing, nothing)


def times(angle: float = 1.0, effort: float = 1.0) -> _Change:
    """Return a change of the unit or the sign of columns."""
    def change(q: Array, tau: Array, k: int, _: np.random.Generator) -> None:
        q[:, k] *= angle
        tau[:, k] *= effort
    return change


def ticks(q: Array, _: Array, k: int, rng: np.random.Generator) -> None:
    """Make a column counts of an encoder of 4096 to a turn, behind a gear."""
    q[:, k] = np.round(q[:, k] / (2.0 * np.pi) * 4096 * rng.choice([1, 4, 100]))


def offset(degrees: float) -> _Change:
    """Return a change of the zero."""
    def change(q: Array, _: Array, k: int, rng: np.random.Generator) -> None:
        q[:, k] -= np.radians(degrees) * rng.choice([-1, 1])
    return change


def exchanged(positions: bool, efforts: bool) -> _Change:
    """Return an exchange of the columns of a joint and another one."""
    def change(q: Array, tau: Array, k: int, rng: np.random.Generator) -> None:
        pair = [k, int(rng.choice([i for i in range(q.shape[1]) if i != k]))]
        for columns in [q] * positions + [tau] * efforts:
            columns[:, pair] = columns[:, pair[::-1]]
    return change


def copied(_: Array, tau: Array, k: int, rng: np.random.Generator) -> None:
    """Put the effort of another joint into a column."""
    tau[:, k] = tau[:, int(rng.choice([i for i in range(tau.shape[1]) if i != k]))]


def stood(_: Array, tau: Array, k: int, rng: np.random.Generator) -> None:
    """Let an effort stand from a third of the recording on."""
    tau[len(tau) // 3:, k] = tau[len(tau) // 3, k]


def every(angle: Sequence[float] = (1.0, 1.0), effort: Sequence[float] = (1.0, 1.0)
          ) -> _Change:
    """Return a change of the units of all joints, times factors between two, each its own."""
    def change(q: Array, tau: Array, _: int, rng: np.random.Generator) -> None:
        for columns, (least, most) in ((q, angle), (tau, effort)):
            columns *= np.exp(rng.uniform(np.log(least), np.log(most), columns.shape[1]))
    return change


def motors(q: Array, tau: Array, _: int, rng: np.random.Generator) -> None:
    """Let angles and efforts be those of motors before their gears."""
    gears = rng.choice([50.0, 100.0, 160.0], tau.shape[1])
    q *= gears
    tau /= gears


def late(every: bool) -> _Change:
    """Return a delay of efforts by 50 to 200 ms, of a joint or of all."""
    def change(_: Array, tau: Array, k: int, rng: np.random.Generator) -> None:
        which = slice(None) if every else k
        tau[:, which] = np.roll(tau, int(rng.choice([5, 10, 20])), axis=0)[:, which]
    return change


CLASSES: dict[str, tuple[_Change, bool]] = {  # and whether it is of the last joint
    'nothing': (times(), False), 'degrees': (times(180.0 / np.pi), False),
    'turns': (times(0.5 / np.pi), False), 'ticks': (ticks, False),
    'sign of the angle': (times(-1.0), False), 'sign of angle and effort': (
        times(-1.0, -1.0), False), 'sign of the effort': (times(1.0, -1.0), False),
    'positions exchanged': (exchanged(True, False), False), 'efforts exchanged': (
        exchanged(False, True), False), 'names exchanged': (exchanged(True, True), False),
    'effort of another joint': (copied, False), 'effort that stood': (stood, False),
    'effort late': (late(every=False), False), 'efforts late': (late(every=True), False),
    'effort in mN m': (times(1.0, 1e3), False), 'effort in amperes': (times(1.0, 0.1), False),
    'offset of 20 degrees': (offset(20.0), False), 'of 5 degrees, last joint': (
        offset(5.0), True), 'of 20 degrees, last joint': (offset(20.0), True),
    'all in degrees': (every(angle=(180.0 / np.pi,) * 2), False),
    'all of motors': (motors, False),
    'all efforts of motors': (every(effort=(1.0 / 160.0, 0.02)), False),
    'all efforts 1.7 to 2.5 times too small': (every(effort=(0.4, 0.6)), False),
    'all efforts 2.5 to 3.5 times too small': (every(effort=(1.0 / 3.5, 0.4)), False)}


def outcome(name: str, seed: int) -> tuple[str, float]:
    """Return one of OUTCOMES, and the degrees by which given bodies miss an offset, or NaN."""
    rng = np.random.default_rng((77, seed))
    model = random_arm(rng)
    clock, q, tau = recorded(model, rng)
    given, (change, last) = described(model, rng), CLASSES[name]
    k = model.nv - 1 if last else int(rng.integers(model.nv))
    before, joint = q[0, k], model.coordinate_names[k]
    change(q, tau, k, rng)
    try:
        remarks = identify(given, Recording(given, clock, q, tau)).verdict.remarks
    except LiedynError as error:
        return ('named' if joint in getattr(error, 'names', ()) else 'other'), np.nan
    told = [float(each) for remark in remarks if 'not observable' in remark
            for each in re.findall(rf'{joint} ([+-]\d+)', remark)]
    return ('doubt' if any(joint in each for each in remarks) else 'silent',
            told[0] - np.degrees(before - q[0, k]) if told and 'degrees' in name else np.nan)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each class."""
    parser = argparse.ArgumentParser(prog='benchmarks.identification.wrong_columns',
                                     description=__doc__)
    parser.add_argument('--arms', type=int, default=20)
    parser.add_argument('--classes', nargs='*', choices=CLASSES, default=[*CLASSES])
    options = parser.parse_args(arguments)
    rows, began, total = [], time.monotonic(), len(options.classes) * options.arms
    for done, name in enumerate(options.classes):
        found = []
        for seed in range(options.arms):
            found.append(outcome(name, seed))
            n = done * options.arms + seed + 1
            print(f'{name}, arm {seed}: {found[-1][0]}; {n} of {total}, some '
                  f'{(time.monotonic() - began) * (total / n - 1.0):.0f} s left',
                  file=sys.stderr, flush=True)
        counts = Counter(each for each, _ in found)
        misses = np.array([each for _, each in found if np.isfinite(each)])
        rows.append([name, *(counts[each] for each in OUTCOMES), '' if not len(
            misses) else f'{np.sqrt(np.mean(misses**2)):.1f} of {len(misses)}'])
    print_table(['wrong', *OUTCOMES, 'degrees by the given bodies, rms miss'], rows)
    return 0


if __name__ == '__main__':
    sys.exit(main())
