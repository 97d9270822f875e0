# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""From a recording to the parameters of a model, offered where parts held out say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import itertools

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.identification.consistent_fit import consistent_fit, PRIOR
from liedyn_ros.identification.effort_checks import effort_ratios, require_efforts
from liedyn_ros.identification.equations import Equations, equations_of
from liedyn_ros.identification.joints import (
    FRICTION, LOAD, MORE_FRICTION, OFFSET, SCALE, STRIBECK)
from liedyn_ros.identification.joints.friction import with_friction
from liedyn_ros.identification.joints.scales import scaled, with_scales
from liedyn_ros.identification.lumps import Lump, lumps_of
from liedyn_ros.identification.motion import Motion, motion_of, Recording
from liedyn_ros.identification.robust_fit import Fit, reduced, robust_fit
from liedyn_ros.identification.verdict import judge, Verdict
from liedyn_ros.model import JOINT_TYPES, Model, with_armatures, with_inertias, with_resistances

HEAVIEST = 1e6  # weight of the given model, which decides everything then
PARTS = 5  # of the recording, each held out once (16.32)
_ALIKE = 0.3  # correlation with the given model from which it tells the size of a scale
_FELT = 1e-9  # of the largest entry, below which a body's numbers play no part
METHODS = ('given', 'refitted friction', 'least squares', 'consistent')


@dataclass(frozen=True, eq=False)
class Estimate:
    """
    What samples tell: a plain fit, and the consistent parameters.

    plain is the Fit of the unknowns of the equations. consistent (p,) are the unknowns of
    parameters that bodies can have; bodies maps names to ten parameters each. extra (e,) are
    the terms of joints, rotors (nv,) the reduced inertias of motors or empty.
    """

    plain: Fit
    consistent: Array
    bodies: dict[str, Array]
    extra: Array
    rotors: Array


@dataclass(frozen=True, eq=False)
class Identification:
    """
    The result of identify.

    model has the identified parameters, given is the one identify was called with. unseen has for
    each of METHODS the joint forces (K, f), each part by a fit of the others. held_out has their
    rms errors (f,). verdict says whether model is offered, and why. estimate is
    that of all samples.
    """

    given: Model
    model: Model
    motion: Motion
    equations: Equations
    estimate: Estimate
    unseen: dict[str, Array]
    held_out: dict[str, Array]
    verdict: Verdict

    @property
    def offered(self) -> bool:
        """Return whether the new model predicts better than the given one."""
        return self.verdict.offered

    @property
    def offsets(self) -> dict[str, float]:
        """Return the constant force at each joint, N m or N, which files cannot hold."""
        return self._extra(OFFSET)

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
    def scales(self) -> dict[str, tuple[float, float]]:
        """Return the force of a recorded unit of joints, and its standard deviation (16.14)."""
        errors, result = self._extra(SCALE), {}
        spread = self.estimate.plain.deviations[self.equations.at_friction.stop:]
        for (name, error), deviation in zip(errors.items(), spread):
            recorded = self.equations.scales[self.equations.joints.index(name)]
            factor = 1.0 / (recorded * (1.0 + error))
            result[name] = float(factor), float(factor * deviation)
        return result

    @property
    def rotor_inertia(self) -> dict[str, float]:
        """Return the inertia of each motor, reduced to its joint: the armatures of model."""
        return _named_rotors(self.model, self.estimate)

    def predicted(self, method: str = 'consistent') -> Array:
        """Return the filtered joint forces (K, f) of one of METHODS at equations.time."""
        every = np.ones(len(self.equations.time), dtype=bool)
        return np.asarray(self.equations.rows @ {
            'given': lambda: given_unknowns(self.given, self.equations),
            'refitted friction': lambda: refitted_friction(self.given, self.equations, every),
            'least squares': lambda: self.estimate.plain.x,
            'consistent': lambda: self.estimate.consistent}[method]())

    def _extra(self, wanted: str) -> dict[str, float]:
        return {self.model.coordinate_names[i]: float(value)
                for (kind, i, _), value in zip(self.equations.extra, self.estimate.extra)
                if kind == wanted}


def identify(model: Model, recording: Recording, *, rotor_inertia: bool = True,
             friction: tuple[str, ...] = FRICTION, smoothing: float | None = None,
             cutoff: float | None = None, prior: float = PRIOR, parts: int = PARTS,
             sure: bool = False, stribeck: Mapping[str, float] | None = None,
             scales: tuple[str, ...] = ()) -> Identification:
    """
    Return the inertial parameters, friction and offsets that a recording tells of a model.

    rotor_inertia: whether motors have one; friction lists the terms to fit, of FRICTION and of
    MORE_FRICTION. Speeds of Stribeck terms, rad/s or m/s, are found where stribeck does not give
    them. scales lists joints whose efforts are in an unknown unit. smoothing
    (Hz) is the cut-off of positions, cutoff (Hz) that of the equations; both follow from the
    spectra by default. prior weighs the given model, 1 for errors of about 100 %. Each of so many
    parts is predicted by a fit of the others; the result is offered where that is better. sure
    takes the unit and the sign of the efforts as they are, whatever the given model says.

    Raises LimitError, NameSetError, ShapeError, ConvergenceError, the errors of Regressor, and
    ModuleNotFoundError without clarabel.
    """
    _require_options(prior, parts, friction, stribeck)
    motion = motion_of(model, recording, smoothing)
    if not recording.tau.any():
        raise ShapeError('recording: expected joint forces, got zeros everywhere')
    equations, doubts = _equations(
        model, motion, friction, stribeck or {}, scales, rotor_inertia, cutoff, sure)
    every = np.ones(len(equations.time), dtype=bool)
    estimate = estimate_of(model, equations, every, prior)
    unseen = _unseen(model, equations, estimate, prior, parts)
    held_out = {method: np.sqrt(np.mean((equations.forces - each)**2, axis=0))
                for method, each in unseen.items()}
    named = {kind: {model.coordinate_names[i]: float(value) for (each, i, _), value in zip(
        equations.extra, estimate.extra) if each == kind} for kind in FRICTION}
    better = with_armatures(with_resistances(
        with_inertias(model, estimate.bodies), named['damping'], named['friction']),
        _named_rotors(model, estimate))
    return Identification(model, better, motion, equations, estimate, unseen, held_out, judge(
        model, motion, equations, estimate.plain, estimate.consistent, held_out, doubts))


def _require_options(prior: float, parts: int, friction: tuple[str, ...],
                     stribeck: Mapping[str, float] | None) -> None:
    """Raise LimitError for options that identify does not take."""
    if not 0.0 < prior <= HEAVIEST:
        raise LimitError(f'prior: expected a number above 0, at most {HEAVIEST:g}, got {prior}')
    if not isinstance(parts, int) or parts < 2:
        raise LimitError(f'parts: expected an integer of at least 2, got {parts!r}')
    unknown = [each for each in friction if each not in (*FRICTION, *MORE_FRICTION)]
    if unknown:
        raise LimitError(
            f'friction: expected some of {(*FRICTION, *MORE_FRICTION)}, got {unknown}')
    if stribeck and STRIBECK not in friction:
        raise LimitError(f'stribeck: expected {STRIBECK!r} among the terms of friction, got '
                         f'{friction}')


def _equations(model: Model, motion: Motion, friction: tuple[str, ...],
               stribeck: Mapping[str, float], scales: tuple[str, ...], rotor_inertia: bool,
               cutoff: float | None, sure: bool) -> tuple[Equations, tuple[str, ...]]:
    """Return the equations with all terms, and doubts about the efforts' unit."""
    equations = equations_of(
        model, motion, rotor_inertia=rotor_inertia, cutoff=cutoff,
        friction=tuple(each for each in friction if each in FRICTION))
    given = given_unknowns(model, equations)
    if scales:  # first, as the load of a joint is that of efforts in N m
        ratio, alike = effort_ratios(equations, given)
        start = np.where(np.abs(alike) > _ALIKE, ratio, 1.0)
        equations = scaled(equations, with_scales(model, equations, scales, start).scales)
    doubts = () if sure else require_efforts(
        motion, equations, robust_fit(equations.rows, equations.forces), given)
    equations = with_friction(model, motion, equations, friction, stribeck)
    if scales:
        equations = with_scales(model, equations, scales, equations.scales)
    return equations, doubts


def given_unknowns(model: Model, equations: Equations) -> Array:
    """Return the unknowns (p,) that the given model has: only damping and friction of joints."""
    table, nothing = model.link_table, np.zeros(model.nv)
    extra = {'damping': table.damping, 'friction': table.friction}
    return np.concatenate([equations.base.values(equations.regressor.parameters),
                           [extra.get(kind, nothing)[i] for kind, i, _ in equations.extra]])


def refitted_friction(model: Model, equations: Equations, chosen: NDArray[np.bool_]) -> Array:
    """Return the unknowns (p,) of the given model with friction that some samples tell."""
    rows, forces = equations.rows[chosen], equations.forces[chosen]
    found, drag = given_unknowns(model, equations), equations.at_friction
    if drag.stop > drag.start:
        rest = forces - rows[..., :drag.start] @ found[:drag.start]
        found[drag] = robust_fit(rows[..., drag], rest).x
    return found


def estimate_of(model: Model, equations: Equations, chosen: NDArray[np.bool_], prior: float
                ) -> Estimate:
    """Return the estimates of some of the samples, a mask (K,)."""
    rows, forces = equations.rows[chosen], equations.forces[chosen]
    plain = robust_fit(rows, forces)
    given, at = given_unknowns(model, equations), equations.at_extra
    full, found = equations.full_map(), np.concatenate([
        equations.regressor.parameters, given[at]])
    inertial = len(equations.regressor.parameters)
    lumps = _moved(model, equations, full)
    motors = range(10 * len(equations.regressor.bodies), inertial)
    axes = _with_one_axis(model)[:len(motors)]
    triangle, target = reduced(rows, forces, plain)
    size = np.linalg.norm(triangle @ full, axis=0)  # of joints that do not move it is rounding
    felt, turning = (np.flatnonzero(each > _FELT * size.max(initial=0.0)) for each in (
        size[inertial:], size[motors.start:inertial] * axes))
    columns = [*(k for first in lumps for k in range(first, first + 10)),
               *(motors.start + turning), *(inertial + felt)]
    found[columns] = 0.0
    target = target - triangle @ (full @ found)
    positive = np.array([True] * len(turning) + [
        equations.extra[k].positive for k in felt], dtype=bool)
    price = np.concatenate([1.0 / np.maximum(equations.inertia[turning], 1e-12),
                            np.zeros(len(felt))])
    found[columns] = consistent_fit(
        triangle @ full[:, columns], target, [lump.prior for lump in lumps.values()],
        positive, prior, price)
    bodies = {model.bodies[b]: part for first, lump in lumps.items() for b, part in zip(
        lump.bodies, lump.shared(found[first:first + 10]))}
    return Estimate(plain, full @ found, bodies, found[inertial:],
                    found[motors.start:inertial])


def _with_one_axis(model: Model) -> Array:
    """Return 1.0 for coordinates (nv,) of joints that may have an armature, else 0.0."""
    return np.concatenate([np.full(spec.nv, float(spec.nq == spec.nv)) for spec in (
        JOINT_TYPES[joint.type_name] for joint in model.joint_list)] or [np.empty(0)])


def _named_rotors(model: Model, estimate: Estimate) -> dict[str, float]:
    """Return the reduced inertias of motors by coordinate; empty where none were fitted."""
    return {name: float(value) for name, value, one in zip(
        model.coordinate_names, estimate.rotors, _with_one_axis(model)) if one}


def _moved(model: Model, equations: Equations, full: Array) -> dict[int, Lump]:
    """Return the bodies that forces depend on, by the place of their first parameter."""
    least = _FELT * np.abs(full).max(initial=0.0)
    first = {int(b): 10 * k for k, b in enumerate(equations.regressor.bodies)}
    lumps = {first[lump.bodies[0]]: lump for lump in lumps_of(model)}
    return {at: lump for at, lump in lumps.items()
            if np.abs(full[:, at:at + 10]).max(initial=0.0) > least}


def _unseen(model: Model, equations: Equations, estimate: Estimate, prior: float, parts: int
            ) -> dict[str, Array]:
    """Return the forces (K, f) of parts, each predicted by a fit of the others (16.32)."""
    count = len(equations.time)
    gap = int(np.ceil((count / estimate.plain.samples).max()))
    bounds = np.linspace(0, count, parts + 1).astype(int)
    found = {method: np.empty_like(equations.forces) for method in METHODS}
    given = given_unknowns(model, equations)
    for begin, end in itertools.pairwise(bounds):
        chosen = np.ones(count, dtype=bool)
        chosen[max(0, begin - gap):end + gap] = False
        if not chosen.any():
            raise ShapeError(f'recording: expected parts longer than {gap} samples, over which '
                             f'errors are alike, got parts of {end - begin}')
        fit = estimate_of(model, equations, chosen, prior)
        refitted = refitted_friction(model, equations, chosen)
        for method, x in zip(METHODS, (given, refitted, fit.plain.x, fit.consistent)):
            found[method][begin:end] = equations.rows[begin:end] @ x
    return found
