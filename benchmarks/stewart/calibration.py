# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Calibrations of random platforms: what is left of errors of 0.5 mm, and whether it is stated.

    python -m benchmarks.stewart.calibration [--platforms 1000] [--trials 200]

Each platform, of a radius of 0.2 m, is built with normal errors of joints and offsets. It is
measured at 60 poses by readings and an instrument with noise of 10 um, 50 urad in rotations.
Trials repeat this on the paper's platform for each kind of measurement. The normalized squared
error (NEES), over its numbers, is 1 on average where the covariance holds.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
import sys
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2

from benchmarks.identification.coverage import coloured
from benchmarks.record import keep
from benchmarks.stewart.commissioning import platform
from liedyn_ros.commands.work import add_work_options, all_results
from liedyn_ros.common.checks import Array
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3, so3
from liedyn_ros.stewart import leg_lengths, load_geometry, PoseSolver, StewartGeometry
from liedyn_ros.stewart.calibration import (
    calibrate, Calibration, Measured, measured_orientations, measured_points, measured_poses)
from liedyn_ros.stewart.calibration.problem import Problem, values_and_jacobians
from liedyn_ros.stewart.platform.description.geometry_covariance import errors_by_geometry
from liedyn_ros.stewart.platform.state import PlatformMeter
from liedyn_ros.stewart.tracking.prediction import GeometryNoise

PLATFORMS, TRIALS = 1000, 200
POSES, HELD_OUT = 60, 20
SIZE, ERROR = 0.2, 5e-4  # m: radius of random platforms, deviation of their errors
LENGTH, ANGLE = 1e-5, 5e-5  # m and rad, noise
REACH = np.array([0.4] * 3 + [0.08] * 3)  # rad and m, of poses about home
REGULAR = 0.2  # of the signed singular value at home, least at poses that are measured
SURE = 0.95
BELOW, DRAWS = 2e-5, 1000  # m, that is asked for; draws of errors by their covariance
LAWS = '', ', law known'
INSTRUMENT = se3.exp([0.3, 0.2, 1.0, 0.5, 0.6, 0.7])  # where its frames are not known
TARGET = se3.exp([0.1, -0.2, 2.3, 0.02, 0.03, 0.04])
KINDS = ('full', 'full, frames unknown', 'position', 'orientation', 'full, readings drift',
         'full, legs have scales', 'full, readings drift and legs have scales')
DRIFT, MEMORY = 2e-5, 0.95  # m, of readings in the order of poses, and their memory
SCALES = 5e-5  # deviation of a leg's scale
Figures = dict[str, Any]


class Machine(NamedTuple):
    """A platform as it is built: its geometry, what its readings lack (6,), and its errors."""

    geometry: StewartGeometry
    offsets: Array
    errors: Array  # (6, 8), m, and scales, which are 0

    def readings(self, poses: Array, noise: Array | float = 0.0) -> Array:
        """Return what is read at poses (n, 4, 4), m: (n, 6), m."""
        return np.asarray(leg_lengths(self.geometry, poses) - self.offsets + noise)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure random platforms, and trials of each kind; print the tables and keep them."""
    parser = argparse.ArgumentParser(prog='benchmarks.stewart.calibration', description=__doc__)
    parser.add_argument('--platforms', type=int, default=PLATFORMS)
    parser.add_argument('--trials', type=int, default=TRIALS)
    add_work_options(parser)
    options = parser.parse_args(arguments)
    of_platforms = summary(all_results(random_platform, range(options.platforms), options))
    print_table(['', f'{options.platforms} platforms'], [
        [key, f'{value:.4g}'] for key, value in of_platforms.items()])
    of_trials = []
    for kind in KINDS:
        of_trials.append(trials(kind, options))
        print(f'  {options.trials} trials: {kind}', file=sys.stderr, flush=True)
    print_table(['measured', *list(of_trials[0])[1:]], [
        [value if isinstance(value, str) else f'{value:.4g}' for value in row.values()]
        for row in of_trials])
    print(f'figures in {keep("calibration", {"platforms": of_platforms, "trials": of_trials})}')
    return 0


def random_platform(seed: int) -> Figures:
    """Return what is left of errors on a random platform, and whether covariances state it."""
    rng = np.random.default_rng((31, seed))
    geometry, home = platform(rng, SIZE)
    return one_platform(geometry, home, rng)


def summary(rows: list[Figures]) -> Figures:
    """Return the figures of many platforms."""
    of = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    within = of['pose NEES'].mean(axis=1)
    return {
        'platforms': len(rows), 'offered': float(of['offered'].mean()),
        'position before, median, um': 1e6 * float(np.median(of['before'])),
        'position after, median, um': 1e6 * float(np.median(of['after'])),
        'position after, rms, um': 1e6 * float(np.sqrt((of['after'] ** 2).mean())),
        'position after, worst platform, um': 1e6 * float(of['after'].max()),
        'platforms below 20 um': float((of['after'] < BELOW).mean()),
        **{f'of a best estimator{what}': float(of[f'bound{what}, chance'].mean())
           for what in LAWS},
        **{f'platforms whose bound{what} is above 20 um': float(
            (of[f'bound{what}'] > BELOW).mean()) for what in LAWS},
        'squared errors over those of the bound, mean': float(
            ((of['after'] / of['bound']) ** 2).mean()),
        'joints and offsets after, median, um': 1e6 * float(np.median(of['left'])),
        'pose NEES of 6, mean': float(of['pose NEES'].mean()),
        'its standard error': float(within.std(ddof=1) / np.sqrt(len(rows))),
        'poses within the 95 % region': float((of['pose NEES'] < chi2.ppf(SURE, 6)).mean()),
        'parameter NEES of 48, mean': float(of['parameter NEES'].mean())}


def one_platform(geometry: StewartGeometry, home: Array, rng: np.random.Generator) -> Figures:
    """Return what is left of the errors of a platform at poses that nobody measured."""
    machine, poses = built(geometry, rng), spread(geometry, home, POSES, rng)
    found = calibrate(geometry, machine.readings(poses, noise(rng, POSES, 6)), seen(
        'full', poses, rng), home=home, deviations=(LENGTH, LENGTH, ANGLE))
    others = spread(geometry, home, HELD_OUT, rng)
    readings = machine.readings(others)
    before = PoseSolver(geometry).solve_batch(readings, others).poses
    after = PoseSolver(found.geometry).solve_batch(
        found.offsets + found.scales * readings, others).poses
    return {
        'offered': found.offered, 'before': apart(before, others), 'after': apart(after, others),
        'left': float(np.sqrt(((found.errors - machine.errors)[:, :7] ** 2).mean())),
        'pose NEES': pose_squares(found.geometry, after, others),
        'parameter NEES': parameter_squares(found, machine.errors)[0],
        **bounds(found, machine, poses, others)}


def bounds(found: Calibration, machine: Machine, poses: Array, others: Array) -> Figures:
    """
    Return the least error of positions that any estimator can have, by Cramer and Rao, m.

    It is the root mean square over noise and over other poses. The second bound is that of
    estimators that know the law of the errors (van Trees). Chances are those of less than BELOW
    for an estimator that reaches the bound.
    """
    parameters, given = found.problem.parameters, found.problem
    exact = replace(
        given.samples, readings=machine.readings(poses), measured=measured_poses(poses))
    truth = machine.errors.ravel() / parameters.deviations
    rows = Problem(parameters, exact, given.start, poses).at(truth).derivatives.reshape(
        -1, parameters.size)
    _, jacobians = values_and_jacobians(machine.geometry, others)
    by_errors = errors_by_geometry(jacobians, others, machine.readings(others), 8)
    moved = np.linalg.solve(jacobians, by_errors @ parameters.basis)[:, 3:].reshape(
        -1, parameters.size)
    draws = np.random.default_rng(33).normal(size=(parameters.size, DRAWS))
    result = {}
    for law, known in zip(LAWS, (0.0, 1.0)):
        information = rows.T @ rows + known * np.diag(
            (parameters.deviations / np.tile([ERROR] * 7 + [SCALES], 6)) ** 2)
        factor = moved @ np.linalg.cholesky(np.linalg.inv(information))
        drawn = np.sqrt(((factor @ draws) ** 2).sum(axis=0) / len(others))
        result[f'bound{law}'] = float(np.sqrt((factor ** 2).sum() / len(others)))
        result[f'bound{law}, chance'] = float((drawn < BELOW).mean())
    return result


def trials(kind: str, options: argparse.Namespace) -> Figures:
    """Return whether true parameters of one platform are within the stated covariance."""
    count = options.trials
    found = all_results(one_trial, [(kind, k) for k in range(count)], options)
    squares, numbers = np.array([each[0] for each in found]), found[0][1]
    return {'measured': kind, 'trials': count, 'numbers': numbers,
            'NEES over numbers': float(np.mean(squares)) / numbers,
            'standard error': float(np.std(squares, ddof=1) / np.sqrt(count)) / numbers,
            'within the 95 % region': float(np.mean(squares < chi2.ppf(SURE, numbers))),
            'offered': sum(each[2] for each in found) / count}


def one_trial(part: tuple[str, int]) -> tuple[float, int, bool]:
    """Return the squared error of a kind's trial, its numbers, and whether it is offered."""
    kind, seed = part
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    home = se3.from_rotation_translation(np.eye(3), np.array([0.0, 0.0, 0.5]))
    rng = np.random.default_rng((42, seed))
    machine, poses = built(geometry, rng), spread(geometry, home, POSES, rng)
    readings, errors = machine.readings(poses, noise(rng, POSES, 6)), machine.errors.copy()
    if 'drift' in kind:
        readings = readings + DRIFT * coloured(rng, readings.shape, MEMORY)
    if 'scales' in kind:
        errors[:, 7] = SCALES * rng.normal(size=6)
        readings = readings / (1.0 + errors[:, 7])
    found = calibrate(geometry, readings, seen(kind, poses, rng), home=home,
                      deviations=(LENGTH, LENGTH, ANGLE))
    return *parameter_squares(found, errors), found.offered


def built(geometry: StewartGeometry, rng: np.random.Generator) -> Machine:
    """Return a machine whose joints and offsets are off by normal numbers."""
    errors = np.column_stack([ERROR * rng.normal(size=(6, 7)), np.zeros(6)])
    return Machine(replace(
        geometry, base_joints=geometry.base_joints + errors[:, :3],
        platform_joints=geometry.platform_joints + errors[:, 3:6]), errors[:, 6], errors)


def spread(
        geometry: StewartGeometry, home: Array, count: int, rng: np.random.Generator) -> Array:
    """Return poses (count, 4, 4), m, about home, away from singularities."""
    meter, chosen = PlatformMeter(geometry), np.empty((0, 4, 4))
    side = np.sign(meter.measure(home).signed_value)
    least = REGULAR * abs(meter.measure(home).signed_value)
    while len(chosen) < count:
        poses = se3.compose(home, se3.exp(rng.uniform(-1.0, 1.0, (count, 6)) * REACH))
        chosen = np.concatenate((chosen, poses[meter.signed_values(poses) * side > least]))
    return chosen[:count]


def noise(rng: np.random.Generator, *shape: int) -> Array:
    """Return noise of lengths, m."""
    return LENGTH * rng.normal(size=shape)


def seen(kind: str, poses: Array, rng: np.random.Generator) -> Measured:
    """Return what an instrument measures of poses."""
    unknown = kind.endswith('unknown')
    base, target = (INSTRUMENT, TARGET) if unknown else (np.eye(4), np.eye(4))
    given = se3.compose(base, se3.compose(poses, target))
    given[:, :3, 3] += noise(rng, len(poses), 3)
    given[:, :3, :3] = given[:, :3, :3] @ so3.exp(ANGLE * rng.normal(size=(len(poses), 3)))
    if kind == 'position':
        return measured_points(given[:, :3, 3], platform_points=np.zeros(3))
    if kind == 'orientation':
        return measured_orientations(given[:, :3, :3])
    given = se3.normalize(given)
    return measured_poses(given, None, None) if unknown else measured_poses(given)


def apart(poses: Array, true: Array) -> float:
    """Return the root mean square distance of positions, m."""
    return float(np.sqrt(((poses[:, :3, 3] - true[:, :3, 3]) ** 2).sum(axis=1).mean()))


def pose_squares(geometry: StewartGeometry, poses: Array, true: Array) -> Array:
    """Return the normalized squared errors (n,) of poses by the geometry's covariance."""
    twists, about = se3.log(se3.compose(se3.inverse(poses), true)), GeometryNoise(geometry)
    units = np.array([geometry.characteristic_length] * 3 + [1.0] * 3)
    return np.array([
        x @ np.linalg.solve(units[:, None] * about.covariance(pose)[:6, :6] * units, x)
        for pose, x in zip(poses, twists * units)])


def parameter_squares(found: Calibration, errors: Array) -> tuple[float, int]:
    """Return the normalized squared error of what can be known of the errors, and its numbers."""
    parameters = found.problem.parameters
    directions = parameters.basis / parameters.deviations[:, None]
    off = directions.T @ ((found.errors - errors).ravel() / parameters.deviations)
    scaled = found.covariance / np.outer(parameters.deviations, parameters.deviations)
    covariance = directions.T @ scaled @ directions
    return float(off @ np.linalg.solve(covariance, off)), len(off)


if __name__ == '__main__':
    sys.exit(main())
