# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Calibration of an arm, or of a machine with loops, from measured poses of one of its bodies.

Only what held-out poses confirm is offered. The covariance says what the poses left unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.dynamics.constrained.constraints.size import machine_size
from liedyn_ros.identification.calibration.assemblies import nearest_assemblies
from liedyn_ros.identification.calibration.causes import Cause, likely_cause, shared_range
from liedyn_ros.identification.calibration.fit import (
    CalibrationFit, CLEAN_VARIANCE, ERROR_CHANCE, fit, GAIN_DEVIATIONS, MAX_VARIANCE_SHARE,
    require_different)
from liedyn_ros.identification.calibration.held_out import compare, HeldOutPoses
from liedyn_ros.identification.calibration.loops import (
    accepted, closed_configurations, is_looped, with_closed_loops)
from liedyn_ros.identification.calibration.problem import ArmProblem, ArmSamples
from liedyn_ros.identification.calibration.unknowns import (
    CALIBRATED_FRAMES, read_joints, Unknowns, unknowns_of)
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import JOINT_TYPES, Model

PRIOR_DEVIATIONS = 5e-3, 1e-2  # m and rad: deviations of placements before
ASSUMED_DEVIATION = 1e-4  # m and rad, where no deviations are given
MAX_ERRORS = 0.02, 0.1  # of the machine's size, and rad: errors that no calibration leaves
OUTLIER_RATIO = 5.0  # times the greatest error of poses that were used
GIVEN_DEVIATIONS = 3.0  # deviations given, within which errors are never large
MAX_READING = 4.0 * np.pi  # rad: greater readings are in another unit


@dataclass(frozen=True, eq=False)
class ArmCalibration:
    """
    The result of calibrate_arm.

    model has the calibrated placements, lengths those of its rods, m. twists (t, 6) are what those
    of the given one were off by: turns (rad) and shifts (m) in each frame of frames. covariance (6
    t, 6 t) is that of twists in the frames of model. instrument and target (4, 4) are the frames
    of the measurements, further the places of other reflectors from the first or the zero of
    distances, m. used (n,): the poses used. before and after (2,) are rms errors of position (m)
    and rotation (rad) at held-out poses, nan where a rotation is not measured. They and the gain
    are found where they are first asked for. noise is the size of the errors over the deviations.
    unobservable names the numbers that these hardly show; determined counts the others. remarks
    are doubts. problem, fit: the equations and their solution. deviations_given: whether the sizes
    of the errors were given, not found. known: the poses (4, 4) of instrument and target that were
    given.

    >>> calibrate_arm(model, 'tool', readings, seen).frames[:2]
    ('shoulder_pan', 'shoulder_lift')
    """

    model: Model
    frames: tuple[str, ...]
    twists: Array
    lengths: Array
    covariance: Array
    instrument: Array
    target: Array
    further: Array
    used: NDArray[np.bool_]
    noise: float
    determined: int
    unobservable: tuple[str, ...]
    remarks: tuple[str, ...]
    problem: ArmProblem
    fit: CalibrationFit
    deviations_given: bool = False
    known: tuple[Array | None, Array | None] = (None, None)

    @cached_property
    def held_out(self) -> HeldOutPoses:
        """Return the errors of the given and the new model at held-out poses."""
        return compare(self.problem, self.fit)

    @property
    def before(self) -> Array:
        """Return rms errors (2,) of the given model at held-out poses, m and rad."""
        return self.held_out.before

    @property
    def after(self) -> Array:
        """Return rms errors (2,) at held-out poses, of models fitted without them, m and rad."""
        return self.held_out.after

    @property
    def gain(self) -> float:
        """Return the mean of the logarithm of their squared misfits' ratio."""
        return self.held_out.gain

    @property
    def gain_deviation(self) -> float:
        """Return the standard deviation of the gain."""
        return self.held_out.gain_deviation

    @property
    def objections(self) -> tuple[str, ...]:
        """Return why the result is not to be used, none where it is offered."""
        held, result = self.held_out, list(self._left_out())
        better = held.gain > GAIN_DEVIATIONS * held.gain_deviation
        if not (better and held.misfits[1] < held.misfits[0]):
            result.append('held-out poses do not get clearly better')
        if held.lost:
            result.append(f'poses {_listed(held.lost)} cannot be assembled near their '
                          'measurements by fits without them')
        limits = np.array([MAX_ERRORS[0] * machine_size(self.problem.unknowns.model),
                           MAX_ERRORS[1]])
        if self.deviations_given:
            given = np.array(self.problem.samples.deviations)
            limits = np.maximum(limits, GIVEN_DEVIATIONS * given)
        for what, error, limit in zip(('m', 'rad'), held.after, limits):
            if error > limit:  # nan where it was not measured
                result.append(f'errors of {error:.3g} {what} at held-out poses are large for this '
                              f'machine (above {limit:.3g} {what})' + (
                                  f'. The likely cause: {self.cause.text}' if self.cause else ''))
        return tuple(result)

    @cached_property
    def cause(self) -> Cause | None:
        """Return a likely cause of poses that do not fit, with the option for it, or None."""
        problem = self.problem
        return likely_cause(problem.unknowns.model, problem.body, problem.samples, self.known)

    @property
    def distances(self) -> Array:
        """Return how far (n,) each pose is off its measurement, m, rms of its reflectors."""
        return self.problem.distances(self.fit.z)

    def _set_aside(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return masks (n,) of the poses that were left out though their loops close: all, far."""
        left, far = ~self.used & self.problem.settled, self.distances
        return left, left & (far > OUTLIER_RATIO * float(far[self.used].max(initial=0.0)))

    def _left_out(self) -> list[str]:
        """Return objections of poses that were left out though their loops close."""
        (left, beyond), samples = self._set_aside(), self.problem.samples
        name = shared_range(samples.names, samples.readings, left)
        if not beyond.any() and name is None:
            return []
        which = (f'poses {_listed(samples.numbers[beyond])} are up to '
                 f'{1e3 * self.distances[beyond].max():.3g} mm off, more than {OUTLIER_RATIO:g} '
                 'times the others' if beyond.any() else
                 f'poses {_listed(samples.numbers[left])} were left out')
        if name is not None:
            which += f', and those left out all lie in one part of the range of {name}'
        return [f'{which}. ' + (f'The likely cause: {self.cause.text}' if self.cause else
                                'Nothing that was tried explains them')]

    @property
    def next_step(self) -> str:
        """Return the one thing to do next."""
        if not self.offered:
            if self.cause:
                return f'calibrate again {self.cause.option}' if self.cause.option.startswith(
                    'without') else f'calibrate again with {self.cause.option}'
            if self._left_out():
                left, beyond = self._set_aside()
                poses = self.problem.samples.numbers[beyond if beyond.any() else left]
                return ('measure these poses again, or exclude them for good: '
                        f'--leave-out {" ".join(map(str, poses))}')
        if self.unobservable:
            return (f'measure poses that differ by {self.unobservable[0]}, which these poorly '
                    f'determine as one of {len(self.unobservable)} numbers')
        return 'use the new model' if self.offered else 'measure more poses over a wider range'

    @property
    def offered(self) -> bool:
        """Return whether held-out poses got clearly better, so that the result may be used."""
        return not self.objections

    @property
    def deviations(self) -> Array:
        """Return how uncertain twists (t, 6) are: one sigma, rad and m."""
        variances = np.diag(self.covariance)[:self.twists.size]
        return np.sqrt(np.maximum(variances, 0.0)).reshape(-1, 6)

    @property
    def length_deviations(self) -> Array:
        """Return how uncertain lengths (r,) are: one sigma, m."""
        return np.sqrt(np.maximum(np.diag(self.covariance)[self.twists.size:], 0.0))

    def offset(self, name: str) -> float:
        """
        Return the offset of a joint's readings: its twist along the axis.

        Args:
            name: of the joint.

        Returns:
            rad or m.

        Raises:
            ModelError: for an unknown joint.

        >>> rng = np.random.default_rng(1)
        >>> readings = np.array([model.random(rng) for _ in range(40)])
        >>> seen = np.array([robot.frames.pose(at, 'tool')[:3, 3] for at in readings])
        >>> abs(calibrate_arm(model, 'tool', readings, seen).offset('elbow')) < 1e-6
        True
        """
        joint = self.model.joint(name)
        first = 3 if joint.type_name == 'prismatic' else 0
        return float(joint.axis @ self.twists[self.frames.index(name), first:first + 3])


def calibrate_arm(
        model: Model, body: str, readings: ArrayLike, positions: ArrayLike,
        rotations: ArrayLike | None = None, *, names: tuple[str, ...] | None = None,
        instrument: ArrayLike | None = None, target: ArrayLike | None = None,
        deviations: tuple[float, float] | None = None,
        tolerance: tuple[float, float] = PRIOR_DEVIATIONS, offsets: bool = False,
        start: ArrayLike | None = None, numbers: Sequence[int] | None = None) -> ArmCalibration:
    """
    Return the geometry of a model from readings at measured poses of a body.

    Args:
        model: with its nominal geometry.
        body: that carries the target.
        readings: of joints (n, m); rad and m.
        positions: of the target (n, 3), m; of several reflectors on it (n, k, 3), the first in the
            target; or distances (n, 1) from the instrument's origin, as cables and ball bars
            measure, from any zero.
        rotations: of the target (n, 3, 3).
        names: of the readings' joints; by default all on the way to the body. Of a machine with
            loops they are the actuated joints before it, and the others follow.
        instrument: pose (4, 4) of the ground in the instrument's frame, m; found where it is None.
        target: pose (4, 4) of the target on the body, m; found where it is None.
        deviations: of a measured position (m) and rotation (rad); estimated where None.
        tolerance: deviations of the model's placements; m, rad.
        offsets: whether joints have offsets alone.
        start: rough configuration (nq,) on the branch of the machine's loops; rad and m.
        numbers: of the poses (n,) in remarks; by default from 1.

    Returns:
        the calibrated model, with covariance and what is unobservable.

    Raises:
        ModelError: for an unknown body or joint.
        ConvergenceError: where the fit does not end.
        LiedynError: for another shape, or a number that is not finite.

    >>> rng = np.random.default_rng(1)
    >>> readings = np.array([model.random(rng) for _ in range(40)])
    >>> seen = np.array([robot.frames.pose(at, 'tool')[:3, 3] for at in readings])
    >>> calibrate_arm(model, 'tool', readings, seen).used.all().item()
    True
    """
    shift, turn = (as_positive('tolerance', each) for each in tolerance)
    measured = read_joints(model, body) if names is None else tuple(names)
    samples = _samples(model, measured, readings, positions, rotations, deviations, numbers)
    known = _frame('instrument', instrument), _frame('target', target)
    unknowns = unknowns_of(
        model, body, (shift, turn), offsets=offsets, names=measured, further=samples.further,
        frames=tuple(name for name, each in zip(CALIBRATED_FRAMES, known) if each is None))
    q, closed = _configurations(model, samples, start)
    _require_enough(samples, unknowns.size - unknowns.of_machine)
    require_different('poses', np.hstack([samples.readings, samples.positions]))
    q, sound, begin = _nearest(model, body, samples, q, closed, known)
    if is_looped(model):
        unknowns = with_closed_loops(unknowns, measured, body, q[closed])
    _require_enough(samples, unknowns.size)
    problem = ArmProblem(unknowns, body, samples, begin, q)
    found = fit(problem, np.zeros(unknowns.size),
                CLEAN_VARIANCE if deviations is None else 1.0, sound)
    return _result(problem, found, known, given=deviations is not None)


def _frame(name: str, pose: ArrayLike | None) -> Array | None:
    return None if pose is None else se3.require_pose(name, pose, (4, 4))


def _nearest(model: Model, body: str, samples: ArmSamples, q: Array, closed: NDArray[np.bool_],
             known: tuple[Array | None, Array | None]
             ) -> tuple[Array, NDArray[np.bool_], dict[str, Array]]:
    """Return the answer of nearest_assemblies, or raise its error with the likely cause."""
    try:
        return nearest_assemblies(model, body, samples, q, closed, known)
    except LimitError as error:
        cause = likely_cause(model, body, samples, known)
        raise error if cause is None else LimitError(
            f'{error}. The likely cause: {cause.text}') from error


def _samples(model: Model, names: tuple[str, ...], readings: ArrayLike, positions: ArrayLike,
             rotations: ArrayLike | None, deviations: tuple[float, float] | None,
             numbers: Sequence[int] | None = None) -> ArmSamples:
    """Return the samples, checked."""
    wide = np.shape(positions)[1:]
    several = len(wide) == 2 and wide[0] > 0
    places = as_array('positions', positions, (-1, -1, 3) if several else (
        -1, 1 if wide == (1,) and rotations is None else 3))
    places = places.reshape(len(places), -1)
    count = len(places)
    given = as_array('readings', readings, (count, len(names)))
    turns = None if rotations is None else as_array('rotations', rotations, (count, 3, 3))
    for k, each in enumerate(() if turns is None else turns):
        so3.require_rotation(f'rotations[{k}]', each)
    for k, name in enumerate(names):
        largest = float(np.abs(given[:, k]).max())
        if model.joint(name).type_name != 'prismatic' and largest > MAX_READING:
            raise LimitError(f'readings of {name}: expected rad within 4 pi, got up to '
                             f'{largest:.4g}: degrees, or angles of a motor before its gear '
                             f'(--reads {name}=0.01*{name})?', names=(name,))
    sizes = (ASSUMED_DEVIATION, ASSUMED_DEVIATION) if deviations is None else (
        as_positive('deviations', deviations[0]), as_positive('deviations', deviations[1]))
    own = np.arange(1, count + 1) if numbers is None else as_array('numbers', numbers, (count,))
    return ArmSamples(names, given, places, turns, sizes, own.astype(int))


def _require_enough(samples: ArmSamples, unknowns: int) -> None:
    count = len(samples.positions)
    numbers = count * (samples.positions.shape[1] + (0 if samples.rotations is None else 3))
    if numbers <= unknowns:
        raise ShapeError(f'positions: expected poses with more numbers than the {unknowns} '
                         f'unknown ones, got {numbers} at {count} poses')


def _configurations(model: Model, samples: ArmSamples, start: ArrayLike | None
                    ) -> tuple[Array, NDArray[np.bool_]]:
    """Return q (n, nq) with the readings, loops closed, and which (n,) could be closed."""
    begin = model.neutral() if start is None else as_array('start', start, (model.nq,))
    for name in samples.names:
        joint = model.joint(name)
        if JOINT_TYPES[joint.type_name].nq != 1:
            raise LimitError(f'{name}: expected a joint of one number, got {joint.type_name}')
    if is_looped(model):
        return closed_configurations(model, samples.names, begin, samples.readings)
    q = np.tile(begin, (len(samples.readings), 1))
    q[:, [model.joint(name).qi for name in samples.names]] = samples.readings
    return q, np.ones(len(q), dtype=bool)


def _result(problem: ArmProblem, found: CalibrationFit,
            known: tuple[Array | None, Array | None], *, given: bool) -> ArmCalibration:
    unknowns, remarks = problem.unknowns, list[str]()
    factor = found.factor
    if given and factor * found.degrees <= chdtri(found.degrees, ERROR_CHANCE):
        factor = 1.0
    elif given:
        remarks.append(f'the errors are {factor ** 0.5:.3g} times as large as the deviations '
                       'given let expect: the covariance counts them as they are')
    covariance = found.scaled_covariance(factor, problem.prior)[
        :unknowns.of_machine, :unknowns.of_machine]
    values = np.linalg.eigvalsh(covariance)
    share = unknowns.shares(covariance)
    open_, wild = ~problem.settled, ~found.used & problem.settled
    if open_.any():
        remarks.append(f'{int(open_.sum())} poses left out, whose loops do not close near their '
                       f'measurements: {_listed(problem.samples.numbers[open_])}')
    if wild.any():
        far = 1e3 * problem.distances(found.z)[wild]
        remarks.append(f'{int(wild.sum())} poses left out, whose errors are no noise: '
                       f'{_listed(problem.samples.numbers[wild])}; they are {far.min():.3g} to '
                       f'{far.max():.3g} mm off')
    instrument, target = problem.frames(found.z)
    determined = int((values < MAX_VARIANCE_SHARE).sum())
    if determined < unknowns.of_machine:
        remarks.append(f'poses of this kind determine {determined} of {unknowns.of_machine} '
                       f'numbers: the others are fixed by the smallest correction')
    model = unknowns.moved(found.z)
    return ArmCalibration(
        accepted(model, problem.q[found.used]) if model.closures else model, unknowns.places,
        unknowns.twists_of(found.z), unknowns.lengths_of(found.z),
        _of_frames(unknowns, found.z, covariance), instrument, target, problem.further(found.z),
        found.used,
        factor ** 0.5, determined, tuple(
            name for name, each in zip(unknowns.names, share) if each > MAX_VARIANCE_SHARE),
        tuple(remarks), problem, found, given, known)


def _listed(numbers: Iterable[int], most: int = 8) -> str:
    """Return some numbers of poses."""
    names = [str(each) for each in numbers]
    return ', '.join(names[:most]) + (' ...' if len(names) > most else '')


def _of_frames(unknowns: Unknowns, z: Array, covariance: Array) -> Array:
    """Return the covariance of twists in the frames of the new model, and of lengths."""
    turned, basis = se3.right_jacobian(unknowns.twists_of(z)), unknowns.basis.copy()
    first = 6 * len(turned)
    basis[:first] = np.einsum('tij,tjk->tik', turned, basis[:first].reshape(
        len(turned), 6, -1)).reshape(first, -1)
    return np.asarray(basis @ covariance @ basis.T)
