# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Joints that are all off the geometry file, weighed against faults of single legs.

A joint's error changes with the direction of its leg, an offset does not. Errors are taken as
noise and as numbers of one size, at each joint or of each leg; these numbers are integrated out.
Of two explanations the likelier one is named, or neither where the poses do not decide.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.stewart.commissioning import explanations
from liedyn_ros.stewart.commissioning.explanations import Diagnosis, Finding
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kinematics import length_jacobian

DECISION_RATIO = float(np.log(100.0))  # ratio of likelihoods, in logarithms, that names joints
REJECTION_RATIO = float(np.log(1000.0))  # the same against joints, which come first
JOINTS_OFF_RATIO = 10.0  # the same, where nothing else is found: by chance once in 1e5
JOINT_DEVIATION = 0.1  # of the platform's size: deviation that joints may have
RATIOS = np.asarray(np.concatenate(([0.0], np.geomspace(1e-2, 1e5, 141))), dtype=float)[:, None]
GEOMETRY_OR_LEGS = 'geometry_or_legs'
LEG_FAULTS = explanations.DEAD, explanations.SENSE  # faults of a leg that no joint explains
OWN_KINDS = 'dead', 'sense', 'offset_or_sense'
MIN_SOUND_LEGS = 3  # legs without such a fault, from which on these are of the leg


class Evidence(NamedTuple):
    """The logarithm of a likelihood, the noise of readings (m or rad), and the numbers' size."""

    log: float
    noise: float
    size: float


class JointEvidence(NamedTuple):
    """
    Joints against faults of single legs.

    advantage: logarithm of the ratio of likelihoods, above 0 for joints. joints: m. fit, order:
    the fault of all legs and the order about which the joints are off. legs: of their faults.
    errors: (m, n), about that fault. columns: (m, n, 6), of a leg's joints, m.
    """

    advantage: float
    joints: Evidence
    legs: Evidence
    fit: Diagnosis
    order: tuple[int, ...]
    errors: Array
    columns: Array


def joint_columns(geometry: StewartGeometry, poses: Array) -> Array:
    """Return d(value of a leg) / d(its joints of base, platform), (m, n, 6), at poses, m."""
    moved = np.array([length_jacobian(geometry, pose) for pose in poses])[..., 3:]
    return np.concatenate(  # a shift of the base is one of the pose, back
        (-moved @ poses[:, :3, :3].swapaxes(1, 2), moved), axis=-1).swapaxes(0, 1)


def evidence(
        errors: Iterable[Array], columns: Iterable[Array], least: float,
        most: float = np.inf) -> Evidence:
    """
    Return how well noise and numbers of one size by columns (n, k) explain errors (n,) of legs.

    least: of the noise. most: of the numbers. Both deviations are those of the greatest
    likelihood; the numbers themselves are integrated out.
    """
    count, sizes, parts, rest = 0, [], [], 0.0
    for error, column in zip(errors, columns):
        left, size, _ = np.linalg.svd(column, full_matrices=False)
        along = left.T @ error
        count += len(error)
        sizes.append(size)
        parts.append(along)
        rest += max(float(error @ error - along @ along), 0.0)
    spread = 1.0 + (RATIOS * np.concatenate(sizes)) ** 2
    squares = rest + (np.concatenate(parts) ** 2 / spread).sum(axis=1)
    variances = np.maximum(squares / count, least ** 2)
    logs = -0.5 * (count * np.log(variances) + squares / variances
                   + np.log(spread).sum(axis=1))
    noises = np.sqrt(variances)
    logs[RATIOS[:, 0] * noises > most] = -np.inf
    best = int(logs.argmax())
    return Evidence(float(logs[best]), float(noises[best]), float(RATIOS[best, 0] * noises[best]))


def weigh(
        geometry: StewartGeometry, poses: Array, readings: Array, found: Diagnosis,
        fits: Sequence[Diagnosis], least: float) -> JointEvidence:
    """Return joints against the faults of legs of what was found. least: of noise, m or rad."""
    legs = _open(found)
    columns = joint_columns(geometry, poses)
    most = JOINT_DEVIATION * geometry.characteristic_length
    places = [(fit, order, _errors(fit, order, readings)) for fit, order in _about(found, fits)]
    joints = [_less(fit, evidence(errors[legs], columns[legs], least, most))
              for fit, _, errors in places]
    best = int(np.argmax([each.log for each in joints]))
    alone = of_legs(found, fits, readings, least)
    return JointEvidence(joints[best].log - alone.log, joints[best], alone, *places[best], columns)


def of_legs(
        found: Diagnosis, fits: Sequence[Diagnosis], readings: Array, least: float) -> Evidence:
    """Return the best of the faults found, and of an offset, a scale or both of every leg."""
    legs = _open(found)
    best = _of_kinds(tuple(found.kinds), found, found.order, readings, legs, least)
    for fit, order in _about(found, fits):
        for kind in (explanations.OFFSET_KIND, explanations.SCALE_KIND,
                     explanations.SCALE_AND_OFFSET):
            best = max(best, _of_kinds((kind,) * len(order), fit, order, readings, legs, least))
    return best


def _open(found: Diagnosis) -> list[int]:
    """Return the legs whose errors joints may explain; all where few of them are left."""
    legs = [leg for leg, kind in enumerate(found.kinds) if kind not in LEG_FAULTS]
    return legs if len(legs) >= MIN_SOUND_LEGS else list(range(len(found.kinds)))


def _of_kinds(
        kinds: tuple[int, ...], fit: Diagnosis, order: tuple[int, ...], readings: Array,
        legs: Sequence[int], least: float) -> Evidence:
    """Return how well faults of the kinds explain what a fault of all legs leaves."""
    errors = _errors(fit, order, readings)[legs]
    return _less(fit, evidence(errors, [_columns(kinds[leg], fit, leg) for leg in legs], least))


def _less(fit: Diagnosis, found: Evidence) -> Evidence:
    """Return an evidence less the part that a fault of all legs was chosen to fit."""
    return found._replace(log=found.log - DECISION_RATIO * bool(fit.fault.kind))


def _about(found: Diagnosis, fits: Sequence[Diagnosis]
           ) -> Iterator[tuple[Diagnosis, tuple[int, ...]]]:
    """Return the places about which joints may be off: the file, then what was found."""
    for fit in fits:
        if not fit.fault.kind and fit.fault.unit_name == found.fault.unit_name:
            every = tuple(range(len(found.order)))
            yield fit, every
            if found.order != every:
                yield fit, found.order
    if found.fault.kind:
        yield found, found.order


def _errors(fit: Diagnosis, order: tuple[int, ...], readings: Array) -> Array:
    """Return values that readings are, less those of a fault of all legs, (m, n)."""
    fault = fit.fault
    return np.asarray((readings[:, order] / fault.unit - fault.offset - fault.expected).T)


def _columns(kind: int, found: Diagnosis, leg: int) -> Array:
    """Return the columns (n, k) of a fault of a leg."""
    values = found.fault.expected[:, leg]
    scale = values / np.abs(values).max()
    return {
        explanations.NO_KIND: np.zeros((len(values), 0)),
        explanations.SCALE_KIND: scale[:, None],
        explanations.SCALE_AND_OFFSET: np.stack((np.ones_like(scale), scale), axis=-1),
        explanations.DEAD: np.eye(len(values)), explanations.SENSE: np.eye(len(values)),
        explanations.UNEXPLAINED_KIND: np.eye(len(values))}.get(kind, np.ones((len(values), 1)))


def judged(geometry: StewartGeometry, found: Diagnosis, weighed: JointEvidence, few: bool
           ) -> Diagnosis:
    """
    Return joints that are off, joints or faults of legs, or what was found.

    few: whether the noise of readings is not known from the poses.
    """
    own = [finding for finding in found.findings if finding.kind in OWN_KINDS]
    own = own if len(own) <= len(found.order) - MIN_SOUND_LEGS else []
    others = [finding for finding in found.findings
              if finding.kind != 'unit' and finding not in own]
    legs = [finding for finding in others if len(finding.legs) == 1]
    gain, every = weighed.advantage, tuple(range(len(found.order)))
    size = f'by about {weighed.joints.size:.2g} m each'
    if gain > (DECISION_RATIO if found.findings else JOINTS_OFF_RATIO):
        text = (f'joints are off the geometry file, {size}: {_left(geometry, weighed.joints)} '
                f'remains, where faults of single legs leave {_left(geometry, weighed.legs)}. Or '
                'the frames of the known poses are off. liedyn platform calibrate finds both, '
                'from about 40 poses')
        return _of_geometry(weighed, own, Finding('geometry', every, text))
    alone = not few or len(legs) + bool(found.fault.kind) == 1
    if not legs or (gain < -REJECTION_RATIO and alone):
        return found
    text = ('these poses do not decide between the geometry and single legs. Joints that are off '
            f'the geometry file, {size}, leave {_left(geometry, weighed.joints)}. Other faults '
            f'leave {_left(geometry, weighed.legs)}: ' + '; '.join(
                finding.text for finding in others))
    return _of_geometry(weighed, own, Finding(GEOMETRY_OR_LEGS, every, text))


def _left(geometry: StewartGeometry, explained: Evidence) -> str:
    return f'{explained.noise:.2g} {geometry.reading_unit[1]}'


def _of_geometry(weighed: JointEvidence, own: Sequence[Finding], finding: Finding) -> Diagnosis:
    """Return an explanation by the joints of all legs, in which no reading is corrected."""
    fit, legs = weighed.fit, len(weighed.order)
    kept = [other for other in fit.findings if other.kind in ('unit', fit.fault.kind) or (
        other.kind == 'order' and weighed.order != tuple(range(legs)))]
    return fit._replace(
        findings=(*kept, *own, finding), unexplained=legs, order=weighed.order,
        kinds=(explanations.UNEXPLAINED_KIND,) * legs, scales=np.full(legs, 1.0 / fit.fault.unit),
        offsets=np.full(legs, -fit.fault.offset))
