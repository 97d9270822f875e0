# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The check of a new platform: faults of its geometry and readings at known poses.

At each known pose the legs' values follow from the geometry. The simplest faults that explain the
readings are named, several together if needed. They concern all legs: a wrong geometry, a unit,
another order of legs, a mirrored frame, a home on another assembly mode. Or they concern single
legs: an offset, a scale or a wrong sense.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.lie import SE3, se3
from liedyn_ros.stewart.commissioning import explanations, joints
from liedyn_ros.stewart.commissioning.common_faults import common_faults
from liedyn_ros.stewart.commissioning.explanations import (
    Diagnosis, Finding, MIN_DIFFERENCE, simplest, Tolerance)
from liedyn_ros.stewart.commissioning.joints import (
    DECISION_RATIO, joint_columns, JointEvidence, REJECTION_RATIO)
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.leg_types import Crank
from liedyn_ros.stewart.platform.kinematics import home_fault, leg_lengths
from liedyn_ros.stewart.platform.state import PlatformMeter, SINGULARITY_WARNING
from liedyn_ros.stewart.solver.pose_solver import PoseSolver

ACCURACY = 5e-3  # of the platform's size, within which readings are right where nothing is given
NO_NOISE_SHARE = 1e-5  # of the same: noise that is taken for none
NOISE_POSES = 3  # poses from which on the readings' noise is estimated
NOISE_FACTOR = 1.5  # from the median of six legs, the least of several faults, to a deviation
MAX_NOISE = 2e-3  # of the platform's size: noise that hardly is a sensor's
COMPETING_COST = 2.0  # cost up to which another explanation may be the one that shows the noise
MAX_ALTERNATIVES = 3  # other explanations that are printed
# Faults of all legs, not of the geometry
READING_FAULTS = 'unit', 'order', 'all_scaled', 'all_offset', 'all_backwards'
CHECKED_POSES = 400  # poses at random
# Rad and characteristic lengths, of their greatest distance
MAX_CHECKED_TURN, MAX_CHECKED_SHIFT = 0.5, 0.8


class NextPose(NamedTuple):
    """
    A pose to measure next.

    pose: (4, 4), m. separation: by how much an offset and a scale of the legs differ there at
    least, over what decides: 1 or more where it does. text: a sentence with the pose.
    """

    pose: Array
    separation: float
    text: str


def deciding_pose(
        geometry: StewartGeometry, poses: Array, expected: Array, readings: Array,
        legs: list[int], decides: float, home: Array) -> NextPose | None:
    """
    Return the nearest pose at which an offset and a scale of legs differ by enough, m or rad.

    poses: (n, 4, 4), m, that are known. expected, readings: (n, m) there, in one unit. None where
    no pose that was tried keeps the limits and the singularities' distance, on home's side. The
    way there is not checked.
    """
    tried = _allowed(geometry, poses[0], home)
    if not len(tried):
        return None
    values, at = leg_lengths(geometry, tried)[:, legs], expected[:, legs].mean(axis=0)
    factors = readings[:, legs].mean(axis=0) / at
    names = ', '.join(geometry.leg_names[leg] for leg in legs)
    return _most_telling(
        tried, (np.abs(factors - 1.0) * np.abs(values - at)).min(axis=1) / decides,
        f'whether an offset or a scale is wrong with {names}')


def telling_pose(
        geometry: StewartGeometry, poses: Array, weighed: JointEvidence, home: Array
) -> NextPose | None:
    """Return the nearest pose that is expected to decide between joints and faults of legs."""
    tried = _allowed(geometry, poses[0], home)
    if not len(tried):
        return None
    noise = max(weighed.joints.noise, weighed.legs.noise)
    size = max(weighed.joints.size, float(np.sqrt((weighed.errors ** 2).mean())))
    gains = np.zeros(len(tried))
    for errors, known, columns in zip(
            weighed.errors, weighed.columns, joint_columns(geometry, tried)):
        weight = np.linalg.inv(np.eye(6) / size ** 2 + known.T @ known / noise ** 2)
        expected = columns @ (weight @ known.T @ errors) / noise ** 2
        spread = (columns @ weight * columns).sum(axis=1)
        gains += 0.5 * np.log1p(((expected - errors.mean()) ** 2 + spread) / noise ** 2)
    return _most_telling(tried, gains / (DECISION_RATIO + REJECTION_RATIO),
                         'whether joints or single legs are wrong')


def _most_telling(tried: Array, separations: Array, what: str) -> NextPose:
    """Return the first pose that tells what is wrong, or else the one that tells most of it."""
    enough = np.flatnonzero(separations >= 1.0)
    best = int(enough[0] if len(enough) else separations.argmax())
    text = (f'the pose {_numbers(tried[best])} (x y z in m, roll pitch yaw in degrees) should '
            f'tell {what}. It keeps the limits; check the way to it')
    if not len(enough):
        text += (f'. It is the most informative near these poses, and about '
                 f'{np.ceil(1.0 / separations[best]):.0f} such poses are needed')
    return NextPose(tried[best], float(separations[best]), text)


def _allowed(geometry: StewartGeometry, first: Array, home: Array) -> Array:
    """Return poses about the first, near ones first, within limits and on home's side."""
    rng = np.random.default_rng(0)
    reach = np.array([MAX_CHECKED_TURN] * 3 +
                     [MAX_CHECKED_SHIFT * geometry.characteristic_length] * 3)
    sizes = np.linspace(0.05, 1.0, CHECKED_POSES)
    twists = rng.uniform(-1.0, 1.0, (CHECKED_POSES, 6)) * sizes[:, None]
    tried, meter = se3.compose(first, se3.exp(twists * reach)), PlatformMeter(geometry)
    side = np.sign(meter.measure(home).signed_value)
    allowed = meter.margins(tried).within_limits & (
        meter.signed_values(tried) * side > SINGULARITY_WARNING)
    return np.asarray(tried[allowed])


def _numbers(pose: Array) -> str:
    """Return a pose as a line of samples has it: m and degrees."""
    given = SE3(pose)
    return ' '.join(f'{x:.4g}' for x in (*given.translation, *np.degrees(given.rotation.rpy)))


@dataclass(frozen=True)
class Commissioning:
    """
    The result of a check.

    expected, readings: (n, m), at each pose, m or rad. findings: faults, none where all is right.
    remarks: limits of these poses. scales, offsets: (m,), for a value = offset + scale *
    reading; order: for each leg the reading that is its own, which undo the faults found.
    remaining: (n, m), m or rad, errors that the faults found leave. tolerance: what was used.
    next_pose: a pose that decides what these do not, or None.
    """

    expected: Array
    readings: Array
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]
    scales: Array
    offsets: Array
    order: tuple[int, ...]
    remaining: Array
    tolerance: Tolerance
    next_pose: NextPose | None

    @property
    def right(self) -> bool:
        """Return whether no fault was found."""
        return not self.findings


def check(
        geometry: StewartGeometry, poses_base_platform: ArrayLike, readings: ArrayLike,
        home: ArrayLike, tolerance: float | None = None) -> Commissioning:
    """
    Return the faults of readings (n, m) of the legs at known poses (n, 4, 4), m.

    home: (4, 4), m, from which the tracking is to start. tolerance: m or rad, within which a
    reading is right: the accuracy of poses and geometry. Where it is left out, it follows from the
    platform's size and, from three poses on, from the readings' noise. Raises ShapeError,
    NotFiniteError, NotInGroupError or LimitError.
    """
    poses = se3.require_pose('poses_base_platform', poses_base_platform, (-1, 4, 4))
    given = checks.as_array('readings', readings, (len(poses), len(geometry.leg_names)))
    if not len(poses):
        raise LimitError('poses_base_platform: expected one pose or more, got none')
    geometry = _with_cranks_of_poses(geometry, poses)
    expected = leg_lengths(geometry, poses)
    allowed = default_tolerance(geometry, given) if tolerance is None else Tolerance(
        checks.as_positive('tolerance', tolerance))
    found, fits = simplest(geometry, list(common_faults(geometry, poses, given)), given, allowed)
    least = allowed.most / MIN_DIFFERENCE
    if len(poses) >= NOISE_POSES:
        least = NO_NOISE_SHARE * geometry.characteristic_length / geometry.reading_unit[0]
        if tolerance is None:
            allowed = Tolerance(allowed.most, _noise(found, fits, given, least))
            faults = [fit.fault for fit in fits if not fit.fault.kind
                      or fit.unexplained <= max(found.unexplained, len(fit.kinds) // 2)]
            found, fits = simplest(geometry, faults, given, allowed)
    weighed = joints.weigh(geometry, poses, given, found, fits, least)
    if found.findings or np.isfinite(allowed.noise):
        found = joints.judged(geometry, found, weighed, len(poses) < NOISE_POSES)
    if found.mostly_unexplained and found.findings[-1].kind == 'unexplained':
        found = _geometry_unknown(geometry, fits, given)
    return _result(geometry, poses, expected, given, home, allowed, found, fits, weighed)


def default_tolerance(geometry: StewartGeometry, readings: Array) -> Tolerance:
    """Return the default tolerance of an error: a share of the platform's size."""
    size = geometry.characteristic_length
    if not (geometry.driven or geometry.staged):  # by lengths: the joints may be in another unit
        size = min(size, float(np.median(np.abs(readings))) or size)
    return Tolerance(ACCURACY * size / geometry.reading_unit[0])


def _noise(found: Diagnosis, fits: list[Diagnosis], readings: Array, least: float) -> float:
    """Return the deviation of the readings that the best of the simple explanations leaves."""
    if found.mostly_unexplained:
        return np.inf
    variances = [joints.of_legs(found, fits, readings, least).noise ** 2]
    for fit in fits:
        if fit.unexplained > found.unexplained or fit.cost > found.cost + COMPETING_COST:
            continue
        kinds = np.array(fit.kinds)
        freedom = len(readings) - explanations.FITTED_NUMBERS[kinds]
        unknown = (explanations.UNEXPLAINED_KIND, explanations.DEAD)
        good = ~np.isin(kinds, unknown) & (freedom > 0)
        variances.append(np.median(fit.rests[good] / freedom[good]) if good.any() else np.inf)
    return NOISE_FACTOR * max(float(np.sqrt(min(variances))), least)


def _geometry_unknown(
        geometry: StewartGeometry, fits: list[Diagnosis], readings: Array) -> Diagnosis:
    """Return a geometry finding, for readings of which half or more remain unexplained."""
    fit = min((fit for fit in fits if not fit.fault.kind), key=lambda fit: float(np.median(
        np.abs(readings / fit.fault.unit - fit.fault.expected))))
    errors = np.abs(readings / fit.fault.unit - fit.fault.expected).max(axis=0)
    text = ('no single fault known to this check explains the readings; their errors are '
            f'{errors.min():.3g} to {errors.max():.3g} {geometry.reading_unit[1]}. This many legs '
            'point to the geometry file (joints, their order, frames) or to the known poses. '
            'Errors of this size that are expected are given as the tolerance')
    unit = tuple(finding for finding in fit.findings if finding.kind == 'unit')
    legs = len(geometry.leg_names)
    every = tuple(range(legs))
    return fit._replace(
        findings=(*unit, Finding('geometry', every, text)), unexplained=legs, order=every,
        kinds=(explanations.UNEXPLAINED_KIND,) * legs, offsets=np.zeros(legs),
        scales=np.full(legs, 1.0 / fit.fault.unit))


def _result(
        geometry: StewartGeometry, poses: Array, expected: Array, readings: Array,
        home: ArrayLike, tolerance: Tolerance, found: Diagnosis, fits: list[Diagnosis],
        weighed: JointEvidence) -> Commissioning:
    """Return the commissioning's result, with faults of home and legs that are undecided."""
    start = se3.require_pose('home', home, (4, 4))
    fault = found.fault
    of_geometry = bool(fault.kind) and fault.kind not in READING_FAULTS
    fault_of_home = () if of_geometry else _home_out_of_place(geometry, poses, start)
    if not (fault_of_home or of_geometry or found.mostly_unexplained):
        fault_of_home = _home_fault(geometry, poses, expected, start, tolerance.most)
    undecided = [leg for leg, kind in enumerate(found.kinds)
                 if kind == explanations.UNDECIDED_KIND]
    pose = None if of_geometry or not undecided else deciding_pose(
        geometry, poses, expected, readings[:, found.order] / fault.unit, undecided,
        MIN_DIFFERENCE * tolerance.most, start)
    if found.findings and found.findings[-1].kind == joints.GEOMETRY_OR_LEGS:
        pose = telling_pose(geometry, poses, weighed, start)
    remarks = [*_alternatives(found, fits), *_alike(geometry, fault.expected, tolerance.most)]
    if pose is not None:
        remarks.append(pose.text)
    rough = MAX_NOISE * geometry.characteristic_length / geometry.reading_unit[0]
    if rough < tolerance.noise < np.inf:
        remarks.append(f'the readings scatter by {tolerance.noise / NOISE_FACTOR:.2g} about the '
                       'values of the geometry: if the sensors are better, joints or known poses '
                       'are off by about as much')
    undone = found.scales * readings[:, found.order] + found.offsets
    return Commissioning(
        expected, readings, (*fault_of_home, *found.findings, *_order_instead(found, fits)),
        tuple(remarks), found.scales, found.offsets, found.order, undone - fault.expected,
        tolerance, pose)


def _order_instead(found: Diagnosis, fits: list[Diagnosis]) -> tuple[Finding, ...]:
    """
    Return another order of the legs where it explains the readings as well as a mirrored frame.

    Of a platform that is its own mirror image but for the order of its legs, nothing can tell.
    """
    if not any(finding.kind.endswith('mirrored') for finding in found.findings):
        return ()
    return tuple(
        finding._replace(text=f'or no axis is mirrored, and {finding.text}')
        for fit in fits if fit.fault.unit == found.fault.unit
        and {other.kind for other in fit.findings} <= {'unit', 'order'}
        for finding in fit.findings if finding.kind == 'order')


def _alternatives(found: Diagnosis, fits: list[Diagnosis]) -> tuple[str, ...]:
    """Return a remark where other faults of all legs explain the readings as simply."""
    if found.unexplained or not found.findings:
        return ()
    known = {finding.text for finding in found.findings}
    others = ['; '.join(finding.text for finding in fit.findings) for fit in fits
              if not fit.unexplained and fit.cost <= found.cost + 1e-6
              and not {finding.text for finding in fit.findings} <= known]
    if not others:
        return ()
    return ('these poses do not decide whether instead ' + ', or '.join(
        list(dict.fromkeys(others))[:MAX_ALTERNATIVES])
        + ': add a pose that is turned and moved to the side',)


def _alike(geometry: StewartGeometry, expected: Array, tolerance: float) -> tuple[str, ...]:
    """Return a remark where the poses do not tell legs apart."""
    apart = np.abs(expected[:, :, None] - expected[:, None, :]).max(axis=0)
    pairs = [f'{geometry.leg_names[i]} and {geometry.leg_names[j]}'
             for i, j in itertools.combinations(range(len(geometry.leg_names)), 2)
             if apart[i, j] < MIN_DIFFERENCE * tolerance]
    if not pairs:
        return ()
    what = 'all legs' if len(pairs) == math.comb(len(geometry.leg_names), 2) else ', '.join(pairs)
    unknown = '' if np.abs(expected).max() >= MIN_DIFFERENCE * tolerance else (
        ', and no units, scales or senses, as all values are about 0')
    return (f'these poses do not distinguish {what}{unknown}: add a pose that is turned and moved '
            'to the side',)


def _with_cranks_of_poses(geometry: StewartGeometry, poses: Array) -> StewartGeometry:
    """Return the platform, its cranks on their other side where known poses fit only there."""
    if not any(isinstance(leg, Crank) for leg in geometry.leg_types):
        return geometry
    other = replace(geometry, leg_types=tuple(
        replace(leg, pushes=not leg.pushes) if isinstance(leg, Crank) else leg
        for leg in geometry.leg_types))
    mine, others = (each.within_limits(leg_lengths(each, poses)) for each in (geometry, other))
    return other if others.all() and not mine.all(axis=1).any() else geometry


def _home_out_of_place(
        geometry: StewartGeometry, poses: Array, home: Array) -> tuple[Finding, ...]:
    """Return whether home is out of reach, exceeds limits, or is on no known pose's side."""
    text = home_fault(replace(geometry, home=home))
    try:
        behind = _with_cranks_of_poses(geometry, home[None]) is not geometry
    except LimitError:  # out of reach
        return (Finding('home', (), str(text)),)
    side, *sides = PlatformMeter(geometry).signed_values([home, *poses])
    if behind or (side * np.array(sides) < 0.0).all():
        text = (f'home ({", ".join(f"{x:.4g}" for x in home[:3, 3])}) m is on another assembly '
                'mode than the known poses')
    return () if text is None else (Finding('home', (), text),)


def _home_fault(
        geometry: StewartGeometry, poses: Array, expected: Array, home: Array,
        tolerance: float) -> tuple[Finding, ...]:
    """Return whether solves from home reach other poses of the right values than the known."""
    solver, missed = PoseSolver(geometry), []
    for k, (pose, values) in enumerate(zip(poses, expected)):
        solution = solver.solve(values, home)
        if solution.converged and np.abs(solution.pose - pose).max() > MIN_DIFFERENCE * tolerance:
            missed.append(k)
    if not missed:
        return ()
    solution = solver.solve(expected[missed[0]], home)
    place = ', '.join(f'{x:.3f}' for x in solution.pose[:3, 3])
    return (Finding('home', (), (
        f'home is on another assembly mode: for {len(missed)} of {len(poses)} poses, a solve from '
        f'home finds another pose of the same lengths, at ({place}) m. Set home_position and '
        'home_orientation near a known pose')),)
