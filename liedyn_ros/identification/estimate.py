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
from liedyn_ros.identification.consistency import pseudo_inertia
from liedyn_ros.identification.consistent_fit import consistent_fit
from liedyn_ros.identification.equations import Equations
from liedyn_ros.identification.lumps import Lump, lumps_of
from liedyn_ros.identification.robust_fit import reduced, robust_fit, RobustFit
from liedyn_ros.model import JOINT_TYPES, Model

LOAD_SHARE = 0.1  # of the mass of all bodies: a third of what arms are sold to carry
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
        full, found, inertial = self._full, self._given.copy(), len(
            self._equations.regressor.parameters)
        columns, matrix, target, positive, price = self._program(triangle, target)
        found[columns] = consistent_fit(
            matrix, target, [lump.prior for lump in self._lumps.values()], positive, prior, price)
        bodies = {self._model.bodies[b]: part for first, lump in self._lumps.items()
                  for b, part in zip(lump.bodies, lump.shared(found[first:first + 10]))}
        return Estimate(plain, full @ found, bodies, found[inertial:],
                        found[10 * len(self._equations.regressor.bodies):inertial])

    def unlikeness(self, triangle: Array, target: Array, loaded: bool = False) -> float:
        """
        Return minus the logarithm of how likely R x = z is, where bodies are off by about 100 %.

        It is the least objective of consistent_fit at weight 1. Loaded, each last body carries
        another one: with LOAD_SHARE of the mass of all at its centre, as wide as the widest.
        """
        _, matrix, target, positive, price = self._program(triangle, target)
        priors = np.array([lump.prior for lump in self._lumps.values()])
        at = 10 * len(priors)
        if loaded:
            link, bodies = self._model.link_table.body_link, self._model.bodies
            carrying = {int(link[bodies.index(each.parent)]) for each in self._model.joint_list
                        if each.type_name != 'fixed' and each.parent in bodies}
            last = [k for k, each in enumerate(self._lumps.values())
                    if int(link[each.bodies[0]]) not in carrying] or [len(priors) - 1]
            masses, first = priors[:, 3, 3], priors[:, :3, 3] / priors[:, 3, 3, None]
            spread = np.trace(priors[:, :3, :3], axis1=1, axis2=2) / masses - (first**2).sum(
                axis=1)
            center = np.column_stack([first[last], np.ones(len(last))])
            loads = LOAD_SHARE * masses.sum() / len(last) * (
                center[:, :, None] * center[:, None] + spread.max() * np.diag([1, 1, 1, 0]))
            more = [10 * k + i for k in last for i in range(10)]
            matrix = np.column_stack([matrix[:, :at], matrix[:, more], matrix[:, at:]])
            priors, at = np.concatenate([priors, loads]), at + len(more)
        x = consistent_fit(matrix, target, list(priors), positive, 1.0, price)
        ratios = np.linalg.solve(priors, pseudo_inertia(x[:at].reshape(-1, 10)))
        apart = np.trace(ratios, axis1=1, axis2=2) - np.linalg.slogdet(ratios)[1] - 4.0
        return float(0.5 * ((matrix @ x - target)**2).sum() + apart.sum() + price @ x[at:])

    def _program(self, triangle: Array, target: Array
                 ) -> tuple[list[int], Array, Array, NDArray[np.bool_], Array]:
        """Return the places of what is found, and consistent_fit's arguments for them."""
        equations, full, known = self._equations, self._full, self._given.copy()
        inertial = len(equations.regressor.parameters)
        motors = range(10 * len(equations.regressor.bodies), inertial)
        axes = with_one_axis(self._model)[:len(motors)]
        size = np.linalg.norm(triangle @ full, axis=0)  # of joints that do not move it is rounding
        felt, turning = (np.flatnonzero(each > _MIN_EFFECT * size.max(initial=0.0)) for each in (
            size[inertial:], size[motors.start:inertial] * axes))
        columns = [*(k for first in self._lumps for k in range(first, first + 10)),
                   *(motors.start + turning), *(inertial + felt)]
        known[columns] = 0.0
        positive = np.array([True] * len(turning) + [
            equations.extra[k].positive for k in felt], dtype=bool)
        price = np.concatenate([1.0 / np.maximum(equations.inertia[turning], 1e-12),
                                np.zeros(len(felt))])
        return (columns, triangle @ full[:, columns], target - triangle @ (full @ known), positive,
                price)


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
