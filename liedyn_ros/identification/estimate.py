# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Estimates of a model from samples: a plain fit, and the parameters that bodies can have."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from liedyn_ros.common.checks import Array
from liedyn_ros.identification.consistent_fit import consistent_fit
from liedyn_ros.identification.equations import Equations
from liedyn_ros.identification.lumps import Lump, lumps_of
from liedyn_ros.identification.robust_fit import reduced, robust_fit, RobustFit
from liedyn_ros.model import JOINT_TYPES, Model

_MIN_EFFECT = 1e-9  # of the largest entry, below which a body's numbers play no part


@dataclass(frozen=True, eq=False)
class Estimate:
    """
    Estimate from samples: a plain fit, and the consistent parameters.

    plain is the RobustFit of the unknowns of the equations. consistent (p,) are the unknowns of
    parameters that bodies can have; bodies maps names to ten parameters each. extra (e,) are
    the terms of joints, rotors (nv,) the reduced inertias of motors or empty. scatter (p,) is by
    how much plain fits of parts differ, zero where there are none.

    >>> list(identify(rod.model, recording).estimate.bodies)
    ['rod']
    """

    plain: RobustFit
    consistent: Array
    bodies: dict[str, Array]
    extra: Array
    rotors: Array
    scatter: Array = field(default_factory=lambda: np.zeros(1))
    parts: int = 2

    @property
    def deviations(self) -> Array:
        """
        Return the root mean square errors (p,) of consistent: noise, and what pulls it (16.28).

        Effects that the model lacks, such as friction, are no noise: they make fits of parts of
        the recording differ. So does noise: the greater one of both deviations counts. Where x is
        off by noise e of deviation s, consistent is off by e + d, with d = consistent - x the pull
        of the given model and of what bodies can have. Be d constant, or as much as takes back a
        share of e: e + d lies within t sqrt(s^2 + d^2) as often as e within t s.
        """
        noise = np.maximum(self.plain.deviations, self.scatter)
        return np.hypot(noise, self.consistent - self.plain.x)

    def half_widths(self, level: float) -> Array:
        """
        Return half the widths of intervals, wider where they rest on the scatter of few parts.

        Args:
            level: of confidence, such as 0.95.

        Returns:
            half widths (p,), in the units of the unknowns.

        >>> found = identify(rod.model, recording).estimate
        >>> bool((found.half_widths(0.95) >= found.half_widths(0.5)).all())
        True
        """
        freedom = np.where(self.scatter > self.plain.deviations, self.parts - 1.0,
                           self.plain.freedom)
        return np.asarray(stdtrit(freedom, 0.5 + 0.5 * level) * self.deviations)


class Estimator:
    """Estimates of some of the samples, a mask (K,), for several weights of the given model."""

    def __init__(self, model: Model, equations: Equations, chosen: NDArray[np.bool_]) -> None:
        """Fit the unknowns, and reduce the samples to as many rows as there are unknowns."""
        rows, forces = equations.rows[chosen], equations.forces[chosen]
        self.plain = robust_fit(rows, forces)
        self._bodies = ConsistentBodies(model, equations)
        self._reduced = reduced(rows, forces, self.plain)

    def at(self, prior: float) -> Estimate:
        """Return the estimate in which the given model has a weight."""
        return self._bodies.estimate(self.plain, *self._reduced, prior)


class ConsistentBodies:
    """The bodies and motors whose parameters forces depend on, and their cones."""

    def __init__(self, model: Model, equations: Equations) -> None:
        """Take the bodies that forces depend on."""
        self._model, self._equations = model, equations
        self._full = equations.full_map()
        self._lumps = _moved(model, equations, self._full)
        self._given = np.concatenate([equations.regressor.parameters,
                                      given_unknowns(model, equations)[equations.at_extra]])

    def estimate(self, plain: RobustFit, triangle: Array, target: Array, prior: float) -> Estimate:
        """Return the possible parameters nearest to |R x - z|, R and z as of reduced."""
        equations, full, found = self._equations, self._full, self._given.copy()
        inertial = len(equations.regressor.parameters)
        motors = range(10 * len(equations.regressor.bodies), inertial)
        axes = with_one_axis(self._model)[:len(motors)]
        size = np.linalg.norm(triangle @ full, axis=0)  # of joints that do not move it is rounding
        felt, turning = (np.flatnonzero(each > _MIN_EFFECT * size.max(initial=0.0)) for each in (
            size[inertial:], size[motors.start:inertial] * axes))
        columns = [*(k for first in self._lumps for k in range(first, first + 10)),
                   *(motors.start + turning), *(inertial + felt)]
        found[columns] = 0.0
        target = target - triangle @ (full @ found)
        positive = np.array([True] * len(turning) + [
            equations.extra[k].positive for k in felt], dtype=bool)
        price = np.concatenate([1.0 / np.maximum(equations.inertia[turning], 1e-12),
                                np.zeros(len(felt))])
        found[columns] = consistent_fit(
            triangle @ full[:, columns], target, [lump.prior for lump in self._lumps.values()],
            positive, prior, price)
        bodies = {self._model.bodies[b]: part for first, lump in self._lumps.items()
                  for b, part in zip(lump.bodies, lump.shared(found[first:first + 10]))}
        return Estimate(plain, full @ found, bodies, found[inertial:],
                        found[motors.start:inertial])


def given_unknowns(model: Model, equations: Equations) -> Array:
    """Return the unknowns (p,) that the given model has: only damping and friction of joints."""
    table, nothing = model.link_table, np.zeros(model.nv)
    extra = {'damping': table.damping, 'friction': table.friction}
    return np.concatenate([equations.base.values(equations.regressor.parameters),
                           [extra.get(each.kind, nothing)[each.row] for each in equations.extra]])


def refitted_friction(model: Model, equations: Equations, chosen: NDArray[np.bool_]) -> Array:
    """Return the unknowns (p,) of the given model with friction that some samples tell."""
    rows, forces = equations.rows[chosen], equations.forces[chosen]
    found, drag = given_unknowns(model, equations), equations.at_friction
    if drag.stop > drag.start:
        rest = forces - rows[..., :drag.start] @ found[:drag.start]
        found[drag] = robust_fit(rows[..., drag], rest).x
    return found


def with_one_axis(model: Model) -> Array:
    """Return 1.0 for coordinates (nv,) of joints that may have an armature, else 0.0."""
    return np.concatenate([np.full(spec.nv, float(spec.nq == spec.nv)) for spec in (
        JOINT_TYPES[joint.type_name] for joint in model.joint_list)] or [np.empty(0)])


def _moved(model: Model, equations: Equations, full: Array) -> dict[int, Lump]:
    """Return the bodies that forces depend on, by the place of their first parameter."""
    least = _MIN_EFFECT * np.abs(full).max(initial=0.0)
    first = {int(b): 10 * k for k, b in enumerate(equations.regressor.bodies)}
    lumps = {first[lump.bodies[0]]: lump for lump in lumps_of(model)}
    return {at: lump for at, lump in lumps.items()
            if np.abs(full[:, at:at + 10]).max(initial=0.0) > least}
