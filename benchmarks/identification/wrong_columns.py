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
column, `other` another error, `doubt` a remark that names the joint, `silent` neither. Loads that
the description lacks, and nothing, are to be silent or a doubt.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
import re
import sys
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.markup import print_table
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification import identify, Recording, with_payload
from liedyn_ros.model import (
    Limits, Model, ModelBuilder, SpatialInertia, with_inertias, with_resistances)

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


def loaded(model: Model) -> Model:
    """Return an arm that carries three times the mass of its last body at that body's centre."""
    (name, inertia), = [(each.name, each.inertia) for each in model.body_list[-1:] if each.inertia]
    mass = 3.0 * inertia.mass
    return with_payload(model, name, SpatialInertia(
        mass, inertia.center_of_mass, 1e-3 * mass * np.eye(3)).parameters())


def without_limits(model: Model) -> Model:
    """Return an arm whose joints turn as far as they like."""
    return replace(model, joint_list=tuple(
        replace(each, limits=Limits()) for each in model.joint_list))


class Wrong(NamedTuple):
    """A class: its change of columns, if of the last joint, the arm that moves, and that given."""

    change: _Change
    last: bool = False
    moved: Callable[[Model], Model] = lambda model: model
    given: Callable[[Model], Model] = lambda model: model


CLASSES = {
    'nothing': Wrong(times()), 'degrees': Wrong(times(180.0 / np.pi)),
    'turns': Wrong(times(0.5 / np.pi)), 'ticks': Wrong(ticks),
    'sign of the angle': Wrong(times(-1.0)),
    'sign of angle and effort': Wrong(times(-1.0, -1.0)),
    'sign of the effort': Wrong(times(1.0, -1.0)),
    'positions exchanged': Wrong(exchanged(True, False)),
    'efforts exchanged': Wrong(exchanged(False, True)),
    'names exchanged': Wrong(exchanged(True, True)),
    'effort of another joint': Wrong(copied), 'effort that stood': Wrong(stood),
    'effort late': Wrong(late(every=False)), 'efforts late': Wrong(late(every=True)),
    'effort in mN m': Wrong(times(1.0, 1e3)), 'effort in amperes': Wrong(times(1.0, 0.1)),
    'offset of 20 degrees': Wrong(offset(20.0)),
    'of 5 degrees, last joint': Wrong(offset(5.0), last=True),
    'of 20 degrees, last joint': Wrong(offset(20.0), last=True),
    'all in degrees': Wrong(every(angle=(180.0 / np.pi,) * 2)), 'all of motors': Wrong(motors),
    'all of motors, no limits': Wrong(motors, given=without_limits),
    'angle of a motor, no limits': Wrong(times(100.0), given=without_limits),
    'all efforts of motors': Wrong(every(effort=(1.0 / 160.0, 0.02))),
    'all efforts 1.7 to 2.5 times too small': Wrong(every(effort=(0.4, 1.0 / 1.7))),
    'all efforts 2.5 to 3.5 times too small': Wrong(every(effort=(1.0 / 3.5, 0.4))),
    'all efforts 1.7 to 2.5 times too large': Wrong(every(effort=(1.7, 2.5))),
    'all efforts 2.5 to 3.5 times too large': Wrong(every(effort=(2.5, 3.5))),
    'a load': Wrong(times(), moved=loaded)}


def outcome(name: str, seed: int) -> tuple[str, float]:
    """Return one of OUTCOMES, and the degrees by which given bodies miss an offset, or NaN."""
    rng = np.random.default_rng((77, seed))
    model, wrong = random_arm(rng), CLASSES[name]
    clock, q, tau = recorded(wrong.moved(model), rng)
    given = wrong.given(described(model, rng))
    k = model.nv - 1 if wrong.last else int(rng.integers(model.nv))
    before, joint = q[0, k], model.coordinate_names[k]
    wrong.change(q, tau, k, rng)
    try:
        verdict = identify(given, Recording(given, clock, q, tau)).verdict
    except LiedynError as error:
        return ('named' if joint in getattr(error, 'names', ()) else 'other'), np.nan
    remarks = (verdict.unit, *verdict.remarks)
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
