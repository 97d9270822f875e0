# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How often true parameters lie within the stated covariance.

`python -m benchmarks.identification.coverage`: an arm, a floating base with two arms and a
five-bar move along sums of sines. Each trial has another noise of encoders and of forces, which
remembers a share of its last sample. `--lacking` adds friction that the model lacks, of Stribeck
and by load, and compares inertial parameters alone. A payload is estimated with efforts that are
too large by shares of the usual deviation. `--seconds` is the length of a recording.
Platforms are in `benchmarks.stewart.calibration`.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import cache
import itertools
import sys
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.stats import norm

from benchmarks.record import keep
from liedyn_ros.commands.work import add_work_options, all_results
from liedyn_ros.common.errors import ShapeError
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, LoopTracker
from liedyn_ros.identification import PayloadEstimator, Recording, with_payload
from liedyn_ros.identification.consistent_fit import PRIOR
from liedyn_ros.identification.equations import equations_of
from liedyn_ros.identification.estimate import Estimate, given_unknowns
from liedyn_ros.identification.held_out import FOLDS, parts_of, Trial
from liedyn_ros.identification.joints import FRICTION_TERMS
from liedyn_ros.identification.missing_terms import missing_terms
from liedyn_ros.identification.motion.motion import motion_of
from liedyn_ros.identification.payload.estimator import SCALE_DEVIATION
from liedyn_ros.identification.robust_fit import robust_fit
from liedyn_ros.model import load_model, Model, ModelBuilder, SpatialInertia, with_resistances

Array = NDArray[np.float64]
SURE = 0.95
RATE = 100.0
ENCODER = 1e-5  # rad or m
SHARE = 0.02  # of the largest force, the noise of a joint's
H = 2e-3  # s, of differences on groups
ASSEMBLY = {'left_crank_joint': 2.0, 'right_crank_joint': 1.2}  # rad, of the five-bar


class Case(NamedTuple):
    """A machine, and a motion without noise: time (n,), q (n, nq), tau (n, nv)."""

    model: Model
    time: Array
    q: Array
    tau: Array


class Run(NamedTuple):
    """Which noise a recording has, how long it is, s, and whether its friction is lacking."""

    machine: str
    memory: float
    seed: int
    seconds: float
    lacking: bool


class Seen(NamedTuple):
    """Which unknowns lie in their intervals, and NEES over their number."""

    inside: list[bool]
    distance: float


def arm(seconds: float) -> Case:
    """Return the motion of an arm of four joints with friction."""
    builder = ModelBuilder('arm')
    parent = None
    for k, axis in enumerate(([0, 0, 1.0], [0, 1.0, 0], [0, 1.0, 0], [1.0, 0, 0])):
        builder.add_body(f'link_{k}', SpatialInertia(
            3.0 - 0.6 * k, [0.02, 0.01 * k, 0.15], np.diag([0.03, 0.02, 0.01])))
        place = np.eye(4)
        place[2, 3] = 0.3 if parent else 0.0
        builder.add_joint(f'joint_{k}', 'revolute', parent, f'link_{k}', axis=axis,
                          placement=place, damping=0.4, friction=0.3)
        parent = f'link_{k}'
    model, clock = builder.build(), np.arange(int(seconds * RATE)) / RATE
    q, v, a = sines(model.nv)(clock)
    return Case(model, clock, q, Dynamics(model).inverse.batch(q, v, a))


def floating_base(seconds: float) -> Case:
    """Return the motion of a free base that carries two arms, with the wrench on it."""
    model, clock = load_model(config_file('aerial_manipulator.yaml')), np.arange(
        int(seconds * RATE)) / RATE
    path = sines(model.nv)

    def configurations(shift: int) -> Array:
        return np.array([model.integrate(model.neutral(), each)
                         for each in path(clock + H * shift)[0]])

    q = [configurations(shift) for shift in range(-4, 5)]

    def velocity(i: int) -> Array:
        near, far = (np.array([model.difference(x, y) - model.difference(x, z) for x, y, z in zip(
            q[i], q[i + k], q[i - k])]) for k in (1, 2))
        return (8.0 * near - far) / (12.0 * H)

    v = [velocity(i) for i in range(2, 7)]
    a = (8.0 * (v[3] - v[1]) - (v[4] - v[0])) / (12.0 * H)
    return Case(model, clock, q[4], Dynamics(model).inverse.batch(q[4], v[2], a))


def five_bar(seconds: float) -> Case:
    """Return the motion of a five-bar with friction in its cranks, which alone bear forces."""
    model = load_model(config_file('five_bar.yaml'))
    model = with_resistances(model, dict.fromkeys(ASSEMBLY, 0.4), dict.fromkeys(ASSEMBLY, 0.3))
    dynamics, clock = ConstrainedDynamics(model), np.arange(int(seconds * RATE)) / RATE
    near = assemble(dynamics, np.array([2.0, -1.4, 1.2, 1.4]), held=ASSEMBLY)
    tracker = LoopTracker(dynamics, start=near)
    q, v, a = sines(len(ASSEMBLY), 0.4)(clock)
    q += [ASSEMBLY[name] for name in tracker.measured]
    states = [tracker.update(*each, ahead=False) for each in zip(q, v, a)]
    return Case(model, clock, np.array([each.q for each in states]), np.array([
        dynamics.inverse(each.q, each.v, each.a).tau for each in states]))


MACHINES: dict[str, Callable[[float], Case]] = {
    'arm': arm, 'floating base': floating_base, 'five-bar': five_bar, 'payload': arm}


@cache
def case_of(machine: str, seconds: float) -> Case:
    """Return the motion of a machine, computed once in a process."""
    return MACHINES[machine](seconds)


def sines(count: int, size: float = 1.0) -> Callable[[Array], tuple[Array, Array, Array]]:
    """Return a function from times (n,) to q, v and a (n, count), sums of sines up to 0.4 Hz."""
    rng, k = np.random.default_rng(1), 2.0 * np.pi * np.array([0.1, 0.2, 0.3, 0.4])
    height, phase = size * rng.uniform(0.2, 0.5, (4, count)), rng.uniform(0.0, 6.0, (4, count))

    def at(clock: Array) -> tuple[Array, Array, Array]:
        angle = k[:, None] * clock[:, None, None] + phase
        return ((height * np.sin(angle)).sum(1), (height * k[:, None] * np.cos(angle)).sum(1),
                -(height * k[:, None]**2 * np.sin(angle)).sum(1))

    return at


def coloured(rng: np.random.Generator, shape: tuple[int, ...], memory: float) -> Array:
    """Return noise (n, f) of deviation 1, each sample memory times the last, plus white noise."""
    white = rng.normal(size=(shape[0] + 500, shape[1]))
    return np.asarray(lfilter([np.sqrt(1.0 - memory**2)], [1.0, -memory], white, axis=0))[500:]


def one_trial(trial: Run) -> Seen | None:
    """Return whether the truth is in the intervals of a noisy recording, None where refused."""
    model, clock, q, tau = case_of(trial.machine, trial.seconds)
    rng = np.random.default_rng((2, trial.seed))
    noise = SHARE * np.abs(tau).max(axis=0) * coloured(rng, tau.shape, trial.memory)
    if trial.lacking:
        noise += more_friction(model, q, tau)
    if trial.machine == 'payload':
        return payload_trial(model, clock, q, noise, rng)
    read = np.array([model.integrate(*each) for each in zip(
        q, ENCODER * rng.normal(size=tau.shape))])
    motion = motion_of(model, Recording(model, clock, read, tau + noise))
    equations = equations_of(model, motion)
    fit = robust_fit(equations.rows, equations.forces)
    try:
        held = Trial(model, equations, parts_of(equations, fit, clock[:1], FOLDS))
    except ShapeError:  # errors are alike for so long that identify refuses the recording
        return None
    scatter = held.scatter_with(missing_terms(
        motion, held, FRICTION_TERMS, PRIOR, held.compared(PRIOR))[1])
    wide = Estimate(fit, fit.x, {}, fit.x[:0], fit.x[:0], scatter, FOLDS).half_widths(SURE)
    told = np.isfinite(wide)
    told[equations.base.rank * trial.lacking or len(told):] = False  # friction has no one truth
    error = (fit.x - given_unknowns(model, equations))[told]
    return Seen((np.abs(error) < wide[told]).tolist(), float(error @ np.linalg.solve(
        fit.covariance[np.ix_(told, told)], error) / told.sum()))


def more_friction(model: Model, q: Array, tau: Array) -> Array:
    """Return friction (n, nv) of Stribeck and by load, each a twentieth of the forces."""
    v = np.array([model.difference(*each) for each in itertools.pairwise(q)]) * RATE
    v = np.concatenate([v, v[-1:]])
    moved = np.abs(tau).max(axis=0) > 0.0
    size, slow = np.sqrt((tau**2).mean(axis=0)), 0.2 * np.sqrt((v**2).mean(axis=0))
    stribeck = 0.05 * size * np.sign(v) * np.exp(-(v / np.maximum(slow, 1e-9))**2)
    return np.where(moved, stribeck + 0.05 * np.abs(tau) * np.sign(v), 0.0)


def payload_trial(model: Model, clock: Array, q: Array, noise: Array, rng: np.random.Generator
                  ) -> Seen:
    """Return whether mass and first moments of a load of 1.5 kg lie in their intervals."""
    load = SpatialInertia(1.5, [0.02, -0.03, 0.1], np.diag([0.01, 0.012, 0.005])).parameters()
    body, (_, v, a) = model.bodies[-1], sines(model.nv)(clock)
    bare = Dynamics(model).inverse.batch(q, v, a)
    carried = Dynamics(with_payload(model, body, load)).inverse.batch(q, v, a) - bare
    estimator = PayloadEstimator(model, body)
    tau = bare + (1.0 + SCALE_DEVIATION * rng.normal()) * carried + noise
    for each in zip(clock.tolist(), q, v, a, tau):
        estimator.take(*each)
    found = estimator.estimate.with_scales()
    told = np.isfinite(found.deviations)
    told[4:] = False
    error = (found.parameters - load)[told]
    wide = norm.ppf(0.5 + 0.5 * SURE) * found.deviations[told]
    return Seen((np.abs(error) < wide).tolist(), float(error @ np.linalg.solve(
        found.covariance[np.ix_(told, told)], error) / told.sum()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each machine and memory of the noise, and keep them."""
    parser = argparse.ArgumentParser(prog='benchmarks.identification.coverage',
                                     description=__doc__)
    parser.add_argument('--trials', type=int, default=200)
    parser.add_argument('--memory', type=float, nargs='*', default=[0.0, 0.9, 0.97])
    parser.add_argument('--seconds', type=float, default=30.0)
    parser.add_argument('--lacking', action='store_true')
    parser.add_argument('--machine', nargs='*', choices=MACHINES, default=[*MACHINES])
    add_work_options(parser)
    options = parser.parse_args(arguments)
    trials = [Run(machine, memory, seed, options.seconds, options.lacking)
              for machine in options.machine for memory in options.memory
              for seed in range(options.trials)]
    begin = time.perf_counter()
    found, rows = all_results(one_trial, trials, options), []
    for first in range(0, len(trials), options.trials):
        part = [each for each in found[first:first + options.trials] if each is not None]
        share = np.mean([each.inside for each in part], axis=0)
        rows.append({
            'machine': trials[first].machine, 'memory': trials[first].memory,
            'seconds': options.seconds, 'lacking': str(options.lacking),
            'trials': options.trials, 'refused': options.trials - len(part),
            'unknowns': len(share), 'all': float(share.mean()),
            'worst': float(share.min()),
            'NEES / p': float(np.mean([each.distance for each in part]))})
    print(f'within intervals of {100.0 * SURE:g} %')
    print_table([*rows[0]], [[value if isinstance(value, str) else f'{value:.4g}'
                              for value in row.values()] for row in rows])
    print(f'{time.perf_counter() - begin:.0f} s; figures in '
          f'{keep("identification_coverage", {"trials": rows})}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
