# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""From a recording to the parameters of a model, offered where parts held out say so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from liedyn_ros.common.checks import Array, require_known
from liedyn_ros.common.errors import ConvergenceError, LimitError, ShapeError
from liedyn_ros.identification.delays import likely_delay
from liedyn_ros.identification.effort_checks import (
    effort_ratios, require_efforts, require_joint_angles, require_own_columns)
from liedyn_ros.identification.equations import Equations, equations_of, rows_along
from liedyn_ros.identification.estimate import (
    Estimate, Estimator, given_unknowns, with_one_axis)
from liedyn_ros.identification.held_out import (
    CUTOFFS, FOLDS, HeldOutForces, parts_of, PRIORS, Trial)
from liedyn_ros.identification.joints import (
    COUPLED, FRICTION_TERMS, LOAD, MORE_TERMS, OFFSET_TERM, SCALE_TERM, SPRING, STRIBECK, TILT)
from liedyn_ros.identification.joints.friction import with_friction
from liedyn_ros.identification.joints.scales import scaled, with_scales
from liedyn_ros.identification.missing_terms import missing_terms
from liedyn_ros.identification.motion import Motion, Recording
from liedyn_ros.identification.motion.motion import motion_of
from liedyn_ros.identification.readings import likely_reading, MAX_REMAINING_SHARE, open_zeros
from liedyn_ros.identification.regressors import LoopRegressor
from liedyn_ros.identification.verdict import (
    judge, MAX_CONSISTENCY_COST, MIN_SAMPLES_PER_UNKNOWN, Verdict)
from liedyn_ros.model import Model, with_armatures, with_inertias, with_resistances

MAX_PRIOR = 1e6  # weight of the given model, which decides everything then
STAGES = 'readings', 'weight', 'filters', 'smoothing', 'terms'  # of the work, in this order
RANDOM_CONFIGURATIONS = 200  # random ones of the whole ranges of joints
_EquationsAt = Callable[[Motion, float], Equations]  # of a motion, with a cut-off, Hz
# Correlation with the given model from which it tells the size of a scale
_MIN_SCALE_CORRELATION = 0.3


@dataclass(frozen=True, eq=False)
class Identification:
    """
    The result of identify.

    model has the identified parameters, given is the one identify was called with, motion the
    filtered one whose equations were fitted. unseen are the forces of parts by fits of the others,
    and held_out their rms errors (f,) by method. verdict says whether model is offered, and why.
    estimate is that of all samples. prior is the weight of the given model, equations.cutoff the
    filter, as chosen by these parts. missing are further terms that would each predict them
    better, the best first. beyond (f,) is by how much forces at poses of the joints' whole ranges
    scatter, by fits that each lack a part, or nothing where poses are not independent; moves_first
    is whether a recording of those poses gains more than the best of missing.

    >>> found = identify(rod.model, recording)
    >>> found.offered, found.model.bodies
    (False, ('rod',))
    """

    given: Model
    model: Model
    motion: Motion
    equations: Equations
    estimate: Estimate
    unseen: HeldOutForces
    verdict: Verdict
    prior: float
    missing: tuple[str, ...] = ()
    beyond: Array = field(default_factory=lambda: np.empty(0))
    moves_first: bool = False

    @property
    def held_out(self) -> dict[str, Array]:
        """Return the rms errors (f,) of parts that fits did not see, by method."""
        return self.unseen.errors()

    @property
    def offered(self) -> bool:
        """Return whether the new model predicts better than the given one."""
        return self.verdict.offered

    @property
    def offsets(self) -> dict[str, float]:
        """Return the constant force at each joint, N m or N, which files cannot hold."""
        return self._extra(OFFSET_TERM)

    @property
    def stribeck(self) -> dict[str, tuple[float, float]]:
        """Return the Stribeck friction of joints, N m or N, and its speed, rad/s or m/s."""
        found = self._extra(STRIBECK)
        return {self.model.coordinate_names[each.at]: (
            found[self.model.coordinate_names[each.at]], each.speed)
            for each in self.equations.extra if each.kind == STRIBECK}

    @property
    def load_friction(self) -> dict[str, float]:
        """Return the friction of joints over the force that they bear (16.12)."""
        return self._extra(LOAD)

    @property
    def springs(self) -> dict[str, float]:
        """Return the stiffness of joints in addition to the model's, N m/rad or N/m."""
        return self._extra(SPRING)

    @property
    def coupled(self) -> dict[str, float]:
        """Return friction, N m, and damping, N m s, of motors that turn with two joints."""
        return {each.name(self.given): float(value) for each, value in zip(
            self.equations.extra, self.estimate.extra) if each.kind == COUPLED}

    @property
    def tilt(self) -> Array:
        """Return turns of the base (2,), rad, about level axes x and y; (0,) where not fitted."""
        return np.array([value for each, value in zip(self.equations.extra, self.estimate.extra)
                         if each.kind == TILT])

    @property
    def scales(self) -> dict[str, tuple[float, float]]:
        """Return the force of a recorded unit of joints, and its deviation (16.14)."""
        errors, result = self._extra(SCALE_TERM), {}
        spread = self.estimate.deviations[self.equations.at_friction.stop:]
        for (name, error), deviation in zip(errors.items(), spread):
            recorded = self.equations.scales[self.equations.joints.index(name)]
            factor = 1.0 / (recorded * (1.0 + error))
            result[name] = float(factor), float(factor * deviation)
        return result

    @property
    def rotor_inertia(self) -> dict[str, float]:
        """Return the inertia of each motor, reduced to its joint: the armatures of model."""
        return _named_rotors(self.model, self.estimate)

    def _extra(self, wanted: str) -> dict[str, float]:
        return {self.model.coordinate_names[each.at]: float(value)
                for each, value in zip(self.equations.extra, self.estimate.extra)
                if each.kind == wanted}


def identify(model: Model, recording: Recording, *, rotor_inertia: bool = True,
             friction: tuple[str, ...] = FRICTION_TERMS, smoothing: float | None = None,
             cutoff: float | None = None, prior: float | None = None, sure: bool = False,
             scales: tuple[str, ...] = (),
             progress: Callable[[int, str], None] = lambda done, stage: None) -> Identification:
    """
    Identify the inertial parameters, friction and offsets of a model from a recording.

    It is offered where fits of other parts predict each of FOLDS clearly better than the model.
    Set OPENBLAS_NUM_THREADS=1 before numpy is imported: BLAS has threads that wait.

    Args:
        model: the given one.
        recording: of a motion.
        rotor_inertia: whether motors have one.
        friction: terms to fit, of FRICTION and of MORE_TERMS.
        smoothing: cut-off of positions, Hz; by default the one that predicts held-out parts best.
        cutoff: cut-off of the equations, Hz; likewise.
        prior: weight of the given model, 1 for errors of about 100 %; likewise.
        sure: take columns, units and signs as they are.
        scales: joints whose efforts are in an unknown unit.
        progress: called with how many of STAGES are done, and the one that begins.

    Returns:
        the identified model, what it predicts, and the verdict.

    Raises:
        LimitError: for options or columns that do not fit, NameSetError for unknown joints.
        ShapeError: for a recording without forces, or too short.
        ModuleNotFoundError: without clarabel.

    >>> found = identify(rod.model, recording, sure=True)
    >>> bool(abs(found.model.body('rod').inertia.parameters()[3] + 1.0) < 0.05)
    True
    """
    _require_input(model, prior, friction, recording, sure)
    progress(0, STAGES[0])
    motion = motion_of(model, recording, smoothing)
    first, doubts = _equations(model, motion, friction, {}, scales, rotor_inertia, cutoff, sure)
    every = _of_all_samples(model, first)
    progress(1, STAGES[1])
    trial = Trial(model, first, parts_of(first, every.plain, recording.starts, FOLDS))
    weight = trial.best(PRIORS if prior is None else (prior,))
    progress(2, STAGES[2])
    at_cutoff = partial(_equations_at, first, model, friction, scales, rotor_inertia)
    trial = trial if scales or cutoff else _best_filtered(motion, trial, weight, at_cutoff)
    progress(3, STAGES[3])
    if smoothing is None and not scales:
        motion, trial = _best_smoothed(recording, motion, trial, first, weight, at_cutoff, cutoff)
    every = every if trial.equations is first else _of_all_samples(model, trial.equations)
    progress(4, STAGES[4])
    unseen = trial.with_first(weight)
    missing, wider = missing_terms(motion, trial, friction, weight, unseen)
    estimate = replace(every.at(weight), scatter=trial.scatter_with(wider), parts=FOLDS)
    beyond = _beyond(motion, trial, estimate, weight)
    verdict = judge(model, motion, trial.equations, estimate, unseen, [*missing.values()], doubts)
    return Identification(
        model, _identified(model, trial.equations, estimate), motion, trial.equations, estimate,
        unseen, verdict, weight, tuple(missing), beyond,
        _is_beyond_first(motion, wider, estimate, unseen, weight, beyond))


def _of_all_samples(model: Model, equations: Equations) -> Estimator:
    return Estimator(model, equations, np.ones(len(equations.time), dtype=bool))


def _equations_at(first: Equations, model: Model, friction: tuple[str, ...],
                  scales: tuple[str, ...], rotor_inertia: bool, motion: Motion, cutoff: float
                  ) -> Equations:
    """Return equations of another motion or cut-off (Hz), with the first one's Stribeck speeds."""
    speeds = {model.coordinate_names[each.at]: each.speed for each in first.extra
              if each.kind == STRIBECK}
    return _equations(
        model, motion, friction, speeds, scales, rotor_inertia, cutoff, sure=True)[0]


def _identified(model: Model, equations: Equations, estimate: Estimate) -> Model:
    """Return a model with the parameters of an estimate."""
    damping, friction = ({model.coordinate_names[each.at]: float(value) for each, value in zip(
        equations.extra, estimate.extra) if each.kind == kind} for kind in ('damping', 'friction'))
    return with_armatures(with_resistances(
        with_inertias(model, estimate.bodies), damping, friction), _named_rotors(model, estimate))


def _beyond(motion: Motion, trial: Trial, estimate: Estimate, weight: float) -> Array:
    """Return the scatter (f,) of forces at random poses in limits, at recorded rates; or (0,)."""
    model, equations = trial.model, trial.equations
    if isinstance(equations.regressor, LoopRegressor) or any(
            each.kind == SCALE_TERM for each in equations.extra):
        return np.empty(0)
    rng = np.random.default_rng(RANDOM_CONFIGURATIONS)
    at = rng.integers(len(motion.q), size=RANDOM_CONFIGURATIONS)
    q = motion.q[at]
    for joint in model.joint_list:
        if joint.type_name in ('revolute', 'prismatic') and np.isfinite(
                joint.limits.upper - joint.limits.lower).all():
            q[:, joint.qi] = rng.uniform(joint.limits.lower[0], joint.limits.upper[0],
                                         RANDOM_CONFIGURATIONS)
    return trial.scatter(rows_along(
        model, equations, estimate.plain.x, q, motion.v[at], motion.a[at]), weight)


def _moves_first(error: Array, best: Array, beyond: Array) -> bool:
    """
    Return whether other poses are worth more than a term, after which best and beyond (f,) stay.

    Squared errors of forces anywhere are those on held-out parts and the scatter beyond. Poses
    take the scatter, and leave errors (f,). Logarithms count, as in errors of parts.
    """
    left, other = (np.log(np.maximum(each, 1e-300)).sum() for each in (
        error**2, best**2 + beyond**2))
    return bool(left < other)


def _is_beyond_first(motion: Motion, wider: Sequence[Trial], estimate: Estimate,
                     unseen: HeldOutForces, weight: float, beyond: Array) -> bool:
    """Return whether other poses are worth more than the best further term, if there is one."""
    return len(wider) > 0 and len(beyond) > 0 and _moves_first(
        unseen.errors()['consistent'],
        wider[0].compared(weight, alone=True).errors()['consistent'],
        _beyond(motion, wider[0], estimate, weight))


def _best_smoothed(recording: Recording, motion: Motion, trial: Trial, first: Equations,
                   weight: float, equations_at: _EquationsAt, cutoff: float | None
                   ) -> tuple[Motion, Trial]:
    """
    Return the motion whose fits predict held-out parts best, and their trial.

    Spectra tell how much of a motion is above the noise, not how much of it forces feel: friction
    turns where a joint does. So positions are tried with cut-offs from that of first to none. Of
    another motion the cut-off of equations is chosen again, unless it is given (Hz).
    """
    usual, least = trial.compared(weight), first.cutoff
    error, found = usual.misfit(), (motion, trial)
    while least < motion.rate:
        least, tried_at = 4.0 * least, least
        if (motion.cutoff >= tried_at).all():
            continue
        try:
            other = motion_of(trial.model, recording, least=tried_at)
            tried = trial.of(equations_at(other, trial.equations.cutoff))
            left = tried.compared(weight, alone=True).misfit(scales=usual.scales)
        except (ConvergenceError, LimitError, ShapeError):  # as above the rate
            continue
        if left < error:
            error, found = left, (other, tried)
    if found[0] is motion or cutoff:
        return found
    return found[0], _best_filtered(*found, weight, equations_at)


def _best_filtered(motion: Motion, trial: Trial, weight: float, equations_at: _EquationsAt
                   ) -> Trial:
    """
    Return the trial of the equations, of other cut-offs too, whose fits predict parts best.

    They are not tried where scales are found, which differ a little by the filter.
    """
    usual = trial.compared(weight)
    errors = {trial.equations: usual.misfit()}
    for factor in CUTOFFS:
        cutoff, last = trial.equations.cutoff, errors[trial.equations]
        while True:
            cutoff *= factor
            try:
                other = equations_at(motion, cutoff)
                if other.forces.size < MIN_SAMPLES_PER_UNKNOWN * len(other.names):
                    break
                found = trial.of(trial.equations, other).compared(weight, alone=True)
            except (ConvergenceError, LimitError, ShapeError):  # beyond the rate, or too short
                break
            errors[other] = found.misfit(scales=usual.scales)
            if not errors[other] < last:
                break
            last = errors[other]
    best = min(errors, key=errors.__getitem__)
    return trial if best is trial.equations else trial.of(best)


def _require_input(model: Model, prior: float | None, friction: tuple[str, ...],
                   recording: Recording, sure: bool) -> None:
    """Raise LimitError for options that identify does not take, ShapeError without forces."""
    if recording.tau.size and not recording.tau.any():
        raise ShapeError('recording: expected joint forces, got zeros everywhere')
    if prior is not None and not 0.0 < prior <= MAX_PRIOR:
        raise LimitError(f'prior: expected a number above 0, at most {MAX_PRIOR:g}, got {prior}')
    require_known(LimitError, 'friction', (*FRICTION_TERMS, *MORE_TERMS), friction, 'terms')
    if not sure:
        require_own_columns(model, recording)


def _equations(model: Model, motion: Motion, friction: tuple[str, ...],
               stribeck: Mapping[str, float], scales: tuple[str, ...], rotor_inertia: bool,
               cutoff: float | None, sure: bool
               ) -> tuple[Equations, tuple[str, tuple[str, ...]]]:
    """Return the equations with all terms, a doubt about the unit of efforts, and others."""
    equations = equations_of(
        model, motion, rotor_inertia=rotor_inertia, cutoff=cutoff, friction=friction)
    if scales:  # first, as the load of a joint is that of efforts in N m
        ratio, alike = effort_ratios(equations, given_unknowns(model, equations))
        start = np.where(np.abs(alike) > _MIN_SCALE_CORRELATION, ratio, 1.0)
        equations = scaled(equations, with_scales(model, equations, scales, start).scales)
    unit, doubts = '', tuple[str, ...]()
    if not sure:
        before = (*_require_readings(model, motion, equations),
                  *(() if scales else _require_in_time(model, motion, equations)))
        unit, doubts = require_efforts(model, equations, with_friction(
            model, motion, equations, (SPRING,), {}), scales)
        doubts = (*before, *doubts)
    equations = with_friction(model, motion, equations, friction, stribeck)
    if scales:
        equations = with_scales(model, equations, scales, equations.scales)
    return equations, (unit, doubts)


def _require_readings(model: Model, motion: Motion, equations: Equations) -> tuple[str, ...]:
    """Raise LimitError for joints that count otherwise than the model, or return doubts."""
    found, must = likely_reading(model, motion, equations)
    if found is None or not must:
        require_joint_angles(model, motion, equations)
        return (*([] if found is None else [
            f'{found.text}: the given bodies explain the efforts far better then '
            f'({found.option}), others as well as now']), *open_zeros(model, motion, equations))
    raise LimitError(
        f'positions of {found.name}: expected angles as the model counts them. The likely '
        f'cause: {found.text}: {found.option} explains the efforts. If they are angles of the '
        'model, sure=True (--sure) takes them as they are', names=found.names)


def _require_in_time(model: Model, motion: Motion, equations: Equations) -> tuple[str, ...]:
    """Raise LimitError for efforts of all joints that come late or early, or return a doubt."""
    found = likely_delay(model, motion, equations)
    error = np.sqrt(found.share)
    if not error * MAX_CONSISTENCY_COST < 1.0:
        return ()
    option = f'--effort-delay {found.name and found.name + "="}{found.seconds:.4f}'
    text = (f'efforts of {found.name or "all joints"}: expected at the time of their positions; '
            f'shifted {found.seconds:.4f} s later ({option}), errors are {error:.2g} times as '
            f'large' + (', or its friction lags' if found.name else ''))
    if found.name or max(found.share, found.middle) >= MAX_REMAINING_SHARE:  # friction may lag
        return (text,)
    raise LimitError(f'{text}. If they are in time, sure=True (--sure) takes them as they are',
                     names=equations.joints, expected=0.0, got=found.seconds)


def _named_rotors(model: Model, estimate: Estimate) -> dict[str, float]:
    """Return the reduced inertias of motors by coordinate; empty where none were fitted."""
    return {name: float(value) for name, value, one in zip(
        model.coordinate_names, estimate.rotors, with_one_axis(model)) if one}
