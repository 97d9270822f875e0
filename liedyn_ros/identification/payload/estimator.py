# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Recursive least squares for the ten numbers of a payload, with a covariance that holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, as_array, as_positive
from liedyn_ros.common.errors import LimitError, ShapeError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.identification.consistency import (
    is_consistent, nearest_consistent, pseudo_inertia)
from liedyn_ros.identification.regressors.loop_regressor import LoopRegressor
from liedyn_ros.identification.regressors.regressor import BODY_PARAMETERS, Regressor
from liedyn_ros.model import Model, ModelBuilder, SpatialInertia, with_inertias

MACHINE_EPSILON = float(np.finfo(np.float64).eps)
PAYLOAD_NAME = 'payload'
ERROR_TIME = 0.5  # s, over which errors of the forces may be alike
MAX_BLOCKS = 256  # in memory; then two become one
CORRELATED_BLOCKS = 3  # blocks, over which errors may be alike
MIN_COVARIANCE_BLOCKS = 8  # blocks, from which a covariance follows
PAYLOAD_RANK_TOLERANCE = 1e-6  # of the largest singular value, normalised
PAYLOAD_WEIGHT_ROUNDS = 3
# Makers state constants of motors to 10 % or so: an even chance within has this deviation.
SCALE_DEVIATION = 0.1 / 3.0**0.5
# Of mass times length^2, the least second moment of a body that is written
_MIN_SECOND_MOMENT = 1e-6


@dataclass(frozen=True, eq=False)
class Payload:
    """
    Payload as estimated from samples: parameters with their deviations.

    parameters (10,), called names: mass (kg), first moments (kg m), moments of inertia (kg m^2)
    about the origin of its frame. covariance (10, 10) is that of the seen directions. deviations
    (10,) are its roots, infinite for numbers that the motions do not determine. offsets (f,) are
    constant forces, N m or N. errors (f,) are the rms of what the forces leave. seconds is how
    long samples came. shares (f,) times the parameters are what each joint alone tells, with noise
    (f,), the deviations of shares by noise, infinite where a joint feels nothing. by_shares (10,
    f) says by how much parameters change where the force of a joint is wrong by a share.

    >>> estimator, rng = PayloadEstimator(model, 'tool'), np.random.default_rng(1)
    >>> for k in range(300):
    ...     at, rates = model.random(rng), rng.normal(size=(2, 6))
    ...     estimator.take(0.1 * k, at, *rates, robot.inverse(at, *rates))
    >>> abs(estimator.estimate.mass) < 1e-6
    True
    """

    parameters: Array
    covariance: Array
    deviations: Array
    offsets: Array
    errors: Array
    seconds: float
    shares: Array
    noise: Array
    by_shares: Array
    names: tuple[str, ...] = BODY_PARAMETERS

    @property
    def mass(self) -> float:
        """Return the mass, kg."""
        return float(self.parameters[0])

    @property
    def center_of_mass(self) -> Array:
        """Return the centre of mass (3,), m, in the payload's frame."""
        return np.asarray(self.parameters[1:4] / self.parameters[0])

    @property
    def center_deviations(self) -> Array:
        """Return the deviations (3,) of the centre of mass, m, to first order."""
        mass, center = self.mass, self.center_of_mass
        rows = np.hstack([-center[:, None] / mass, np.eye(3) / mass])
        known = np.isfinite(self.deviations[:4])
        variance = np.einsum('ij,jk,ik->i', rows, self.covariance[:4, :4], rows)
        return np.where(known[0] & known[1:], np.sqrt(variance), np.inf)

    @property
    def scatter(self) -> float:
        """Return by which share joints differ beyond their noise, a deviation; 0 where none do."""
        some = np.isfinite(self.noise)
        if some.sum() < 2:
            return 0.0
        weight = 1.0 / np.maximum(self.noise[some], 1e-9)**2
        mean = float(weight @ self.shares[some] / weight.sum())
        square = float(weight @ (self.shares[some] - mean)**2)
        free = float(weight.sum() - weight @ weight / weight.sum())
        return float(np.sqrt(max(0.0, (square - (some.sum() - 1)) / free)))  # DerSimonian, Laird

    def with_scales(self, covariance: Array | None = None, error: Array | None = None
                    ) -> Payload:
        """
        Return the payload with errors that are shares of the forces in its covariance.

        Args:
            covariance: of the shares (f, f); by default of SCALE_DEVIATION
                common to all joints and of the scatter of each.
            error: (10,), what a recording without payload was found to carry; kg, kg m, kg m^2.

        Returns:
            the payload.

        >>> estimator, rng = PayloadEstimator(model, 'tool'), np.random.default_rng(1)
        >>> for k in range(300):
        ...     at, rates = model.random(rng), rng.normal(size=(2, 6))
        ...     estimator.take(0.1 * k, at, *rates, robot.inverse(at, *rates))
        >>> bool(abs(estimator.estimate.with_scales().parameters[0]) < 1e-6)
        True
        """
        each = SCALE_DEVIATION**2 + self.scatter**2 * np.eye(len(self.shares))
        wide = each if covariance is None else covariance
        more = self.covariance + self.by_shares @ wide @ self.by_shares.T
        if error is not None:
            more = more + np.outer(error, error)
        return replace(self, covariance=more, deviations=np.where(
            np.isfinite(self.deviations), np.sqrt(np.diag(more)), np.inf))

    def corrected(self, factors: Array) -> Payload:
        """
        Return the payload where the force of each joint is too large by a factor.

        Args:
            factors: (f,), 1 for none.

        Returns:
            the payload.

        >>> estimator, rng = PayloadEstimator(model, 'tool'), np.random.default_rng(1)
        >>> for k in range(300):
        ...     at, rates = model.random(rng), rng.normal(size=(2, 6))
        ...     estimator.take(0.1 * k, at, *rates, robot.inverse(at, *rates))
        >>> bool(abs(estimator.estimate.corrected(np.ones(6)).parameters[0]) < 1e-6)
        True
        """
        return replace(self, parameters=self.parameters - self.by_shares @ (1.0 - 1.0 / factors))

    def possible(self, length: float = 0.1) -> Array:
        """
        Return the nearest parameters of a body that exists.

        A flat body, a rod or a point gets a little thickness, as a model needs.

        Args:
            length: size of the body; m.

        Returns:
            (10,); kg, kg m, kg m^2.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> estimator, rng = PayloadEstimator(model, 'tool'), np.random.default_rng(1)
        >>> carrying = ld.Dynamics(with_payload(model, 'tool', [2.0] + [0.0] * 9))
        >>> for k in range(300):
        ...     at, rates = model.random(rng), rng.normal(size=(2, 6))
        ...     estimator.take(0.1 * k, at, *rates, carrying.inverse(at, *rates))
        >>> round(float(estimator.estimate.possible()[0]), 6)
        2.0
        """
        seen = np.where(np.isfinite(self.deviations), self.parameters, 0.0)
        if not is_consistent(seen):
            seen = nearest_consistent(seen, length=length)
        least = _MIN_SECOND_MOMENT * seen[0] * length**2
        if np.linalg.eigvalsh(pseudo_inertia(seen))[0] < least:
            seen[[4, 7, 9]] += 2.0 * least
        return seen


class PayloadEstimator:
    """
    Estimates a body that a machine carries at a body of its model, in a frame placed there.

    Each sample adds to sums, so memory and time of a sample are constant. The covariance comes
    from the scatter of the sums of blocks of 0.5 s or more, so errors of the forces may be
    coloured. The model must hold without the payload: identify it first. Of a machine with closed
    loops the actuated joints bear the forces.

    >>> estimator = PayloadEstimator(model, 'tool')
    >>> estimator.take(0.0, q, v, a, robot.inverse(q, v, a))
    """

    def __init__(self, model: Model, body: str, *, placement: ArrayLike | None = None,
                 offsets: bool = False, block: float = ERROR_TIME, dissipation: bool = True
                 ) -> None:
        """
        Take a model without the payload, and the body that carries it.

        Args:
            model: a Model without the payload.
            body: that carries it.
            placement: (4, 4) of the payload's frame in the body's.
            offsets: whether forces have constant errors, which are estimated too.
            block: s, over which errors of forces may be alike.
            dissipation: whether forces have damping and friction of the model.

        Raises:
            ModelError: for an unknown body.
        """
        self._block = as_positive('block', block)
        loaded = _attached(model, body, placement, None)
        looped = bool(model.closures or model.couplings)
        self._loop = LoopRegressor(loaded) if looped else None
        self._tree = self._loop.tree if self._loop is not None else Regressor(loaded)
        self._dynamics = Dynamics(model, dissipation=dissipation)
        first = 10 * loaded.bodies.index(PAYLOAD_NAME)
        self._columns = slice(first, first + 10)
        self._model, self._offsets = model, offsets
        given = (np.ones(model.nv, dtype=bool) if self._loop is None else self._loop.independent)
        self.joint_names = tuple(np.array(model.coordinate_names)[given].tolist())
        self._joints = len(self.joint_names)
        self.reset()

    def reset(self) -> None:
        """
        Forget all samples.

        >>> PayloadEstimator(model, 'tool').reset()
        """
        size = 10 + (self._joints if self._offsets else 0)
        self._size = size
        self._blocks: list[Array] = []  # each (joints, size + 1, size + 1): sums of rows' products
        self._sum = np.zeros((self._joints, size + 1, size + 1))
        self._begun: float | None = None
        self._first = self._last = 0.0
        self._length = self._block
        self.samples = 0

    def take(self, time: float, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike) -> None:
        """
        Take a sample; a refused one changes nothing.

        Args:
            time: s.
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            a: acceleration (nv,); rad/s^2 and m/s^2.
            tau: measured joint forces (nv,); N m and N.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> PayloadEstimator(model, 'tool').take(0.0, q, v, a, robot.inverse(q, v, a))
        """
        tau = as_array('tau', tau, (self._model.nv,))
        rows = self._tree.torque(q, v, a)[:, self._columns]
        rest = tau - self._dynamics.inverse(q, v, a)
        if self._loop is not None:
            back = self._loop.motions(q).T
            rows, rest = back @ rows, back @ rest
        if self._offsets:
            rows = np.hstack([rows, np.eye(self._joints)])
        if self._begun is None:
            self._begun = self._first = time
        if time - self._begun >= self._length:
            self._close(time)
        full = np.hstack([rows, rest[:, None]])
        self._sum += full[:, :, None] * full[:, None, :]
        self._last, self.samples = time, self.samples + 1

    def _close(self, time: float) -> None:
        self._blocks.append(self._sum.copy())
        self._sum[:] = 0.0
        self._begun = time
        if len(self._blocks) >= MAX_BLOCKS:
            self._blocks = [x + y for x, y in zip(self._blocks[::2], self._blocks[1::2])]
            self._length *= 2.0

    @property
    def estimate(self) -> Payload:
        """Return the payload. Raises ShapeError for too few samples, LimitError for no effect."""
        if len(self._blocks) < MIN_COVARIANCE_BLOCKS:
            raise ShapeError(f'payload: expected samples over '
                             f'{MIN_COVARIANCE_BLOCKS * self._block:g} s or '
                             f'more, got {self._last - self._first:.3g} s')
        blocks, p = np.array(self._blocks), self._size
        total = blocks.sum(axis=0)
        count = self.samples
        weight = np.ones(self._joints)
        for _ in range(PAYLOAD_WEIGHT_ROUNDS):
            x, root = _solved(np.einsum('j,jkl->kl', weight, total), p)
            full = np.append(-x, 1.0)
            squares = np.maximum(np.einsum('k,jkl,l->j', full, total, full), 0.0) / count
            # Smaller sums are rounding of the triple product.
            # Of no force at all
            least = p * MACHINE_EPSILON * float(total[:, p, p].max()) / count or 1.0
            weight = 1.0 / np.maximum(squares, least)
        scores = np.einsum('j,bjk->bk', weight, blocks[:, :, :p, p] - blocks[:, :, :p, :p] @ x)
        inverse = root @ root.T
        meat = scores.T @ scores
        for k in range(1, CORRELATED_BLOCKS):  # of Bartlett, as errors may outlast a block (16.19)
            beside = (1.0 - k / CORRELATED_BLOCKS) * scores[k:].T @ scores[:-k]
            meat = meat + beside + beside.T
        meat = meat * len(blocks) / max(len(blocks) - root.shape[1], 1)
        covariance = inverse @ meat @ inverse
        blind = 1.0 - np.diag(root @ np.linalg.pinv(root)) > 1e-6
        deviations = np.where(blind, np.inf, np.sqrt(np.diag(covariance)))
        # A joint whose forces are too large by a share shifts x as its own part of the load does.
        load = np.append(x[:10], np.zeros(p - 10))
        pull = weight[:, None] * (total[:, :p, :p] @ load)  # (f, p)
        own = np.einsum('k,jkl,l->j', load, total[:, :p, :p], load)
        felt = own > PAYLOAD_RANK_TOLERANCE * max(float(own.max()), 1e-300)
        left = np.einsum('k,bjk->bj', load, blocks[:, :, :p, p] - blocks[:, :, :p, :p] @ x)
        size = np.where(felt, own, 1.0)
        noise = np.where(felt, np.sqrt((left**2).sum(axis=0)) / size, np.inf)
        return Payload(x[:10], covariance[:10, :10], deviations[:10], x[10:], np.sqrt(squares),
                       self._last - self._first, 1.0 + left.sum(axis=0) / size, noise,
                       (inverse @ pull.T)[:10])


def with_payload(model: Model, body: str, parameters: ArrayLike, *,
                 placement: ArrayLike | None = None) -> Model:
    """
    Return a model that carries a payload.

    Args:
        model: a Model.
        body: its name.
        parameters: of the payload (10,), as SpatialInertia.parameters has them; kg, kg m, kg m^2.
        placement: pose (4, 4) of the payload's frame in the body's, m; by default the identity.

    Returns:
        the model.

    Raises:
        ModelError: for an unknown body.
        InertiaError: for numbers that no body has.

    >>> with_payload(model, 'tool', [2.0] + [0.0] * 9).bodies[-1]
    'payload'
    """
    whole = _attached(model, body, placement, SpatialInertia(1.0, np.zeros(3), np.eye(3)))
    return with_inertias(whole, {PAYLOAD_NAME: as_array('parameters', parameters, (10,))})


def _attached(model: Model, body: str, placement: ArrayLike | None,
              inertia: SpatialInertia | None) -> Model:
    builder = ModelBuilder.of(model)
    builder.add_payload(PAYLOAD_NAME, body, inertia, placement)
    return builder.build()


def _solved(matrix: Array, p: int) -> tuple[Array, Array]:
    """Return x (p,) and V (p, r) with V V^T the inverse on what is seen."""
    normal, right = matrix[:p, :p], matrix[:p, p]
    size = np.sqrt(np.diag(normal))
    if not size.any():
        raise LimitError('payload: expected motions in which it has an effect, got none')
    size[size <= PAYLOAD_RANK_TOLERANCE * size.max()] = np.inf
    values, vectors = np.linalg.eigh(normal / np.outer(size, size))
    seen = values > PAYLOAD_RANK_TOLERANCE**2 * values.max()
    root = (vectors[:, seen] / np.sqrt(values[seen])) / size[:, None]
    return root @ (root.T @ right), root
