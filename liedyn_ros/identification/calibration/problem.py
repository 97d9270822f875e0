# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The equations of a calibration: measured poses of a body against those of the model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained.configurations.closing import Closing
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.kernels.tolerances import STALLED_RESIDUAL
from liedyn_ros.identification.calibration.fit import LinearizedErrors
from liedyn_ros.identification.calibration.loops import (
    following, following_twists, free_coordinates, is_looped)
from liedyn_ros.identification.calibration.unknowns import CALIBRATED_FRAMES, chain_of, Unknowns
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import Model

OPEN_LOOP_ERROR = 1e6  # deviations: errors of a pose whose loops do not close
FOLLOWED_FAR = 0.5  # rad or m: joints that follow so far are in another assembly


@dataclass(frozen=True, eq=False)
class ArmSamples:
    """
    Readings (n, m), rad or m, of named joints, and what an instrument measured of a body.

    positions (n, 3 k), m, of k reflectors, or distances (n, 1) from the instrument's origin;
    rotations (n, 3, 3) or None. deviations: of a position (m) and of a rotation (rad). Further
    numbers of the measurement are (3 k - 3,), the places of other reflectors from the first, in
    the axes of the target, or (1,), by how much distances are read too short: their zero. numbers
    (n,) are the poses' own, in messages.
    """

    names: tuple[str, ...]
    readings: Array
    positions: Array
    rotations: Array | None
    deviations: tuple[float, float]
    numbers: NDArray[np.int_]

    @property
    def further(self) -> int:
        """Return how many further numbers the measurement has, m each."""
        return self.positions.shape[1] - 3 if self.positions.shape[1] > 1 else 1

    def rows(self, chosen: NDArray[Any]) -> ArmSamples:
        """Return the samples of some poses."""
        return replace(self, readings=self.readings[chosen], positions=self.positions[chosen],
                       rotations=None if self.rotations is None else self.rotations[chosen],
                       numbers=self.numbers[chosen])

    def errors(self, seen: Array, further: Array) -> Array:
        """
        Return errors, (n, d), in deviations, of targets seen at poses (n, 4, 4).

        further are the further numbers of the measurement, m.
        """
        places, (position, rotation) = seen[:, :3, 3], self.deviations
        if self.positions.shape[1] == 1:
            places = np.linalg.norm(places, axis=1)[:, None] - further
        elif len(further):
            others = np.einsum('nij,kj->nki', seen[:, :3, :3], further.reshape(-1, 3))
            places = np.hstack([places, (places[:, None] + others).reshape(len(places), -1)])
        errors = [(places - self.positions) / position]
        if self.rotations is not None:
            errors.append(self._turns(seen) / rotation)
        return np.concatenate(errors, axis=1)

    def slopes(self, seen: Array, further: Array, turned: Array) -> Array:
        """
        Return derivatives (n, d, z) of the errors, by those of targets, turned (n, 6, z).

        The last of z are the further numbers.
        """
        moved, (position, rotation) = seen[:, :3, :3] @ turned[:, 3:], self.deviations
        if self.positions.shape[1] == 1:
            far = np.linalg.norm(seen[:, :3, 3], axis=1)[:, None]
            moved = ((seen[:, :3, 3] / np.maximum(far, 1e-300))[:, None] @ moved)
            moved[..., -1] = -1.0
        elif len(further):
            own = np.zeros((len(further), turned.shape[2]))
            own[:, -len(further):] = np.eye(len(further))
            others = np.swapaxes(np.cross(  # w x p of each place p
                np.swapaxes(turned[:, None, :3], 2, 3), further.reshape(-1, 1, 3)), 2, 3)
            others = seen[:, None, :3, :3] @ (others + own.reshape(-1, 3, own.shape[1]))
            moved = np.concatenate([moved, (moved[:, None] + others).reshape(
                len(moved), -1, moved.shape[2])], axis=1)
        slopes = [moved / position]
        if self.rotations is not None:
            slopes.append(so3.right_jacobian_inverse(self._turns(seen)) @ turned[:, :3] / rotation)
        return np.concatenate(slopes, axis=1)

    def _turns(self, seen: Array) -> Array:
        """Return the rotations (n, 3), rad, from the measured to the seen orientation."""
        return np.asarray(so3.log(so3.normalize(
            np.swapaxes(np.asarray(self.rotations), 1, 2) @ seen[:, :3, :3])))


class ArmProblem:
    """
    Errors of measured poses by the unknowns, and their derivatives.

    The pose of the target in the instrument's frame is B X(q) T. Joints of a machine with loops
    that are not read follow.
    """

    def __init__(self, unknowns: Unknowns, body: str, samples: ArmSamples, start: dict[str, Array],
                 q: Array) -> None:
        """Take frames (4, 4) of instrument and target and configurations (n, nq) to begin at."""
        self.unknowns, self.body, self.samples, self.start = unknowns, body, samples, start
        self.begin, self.q = q, q.copy()  # always from begin, so a long step leaves no trace
        self.settled: NDArray[np.bool_] = np.ones(len(samples.readings), dtype=bool)
        self._last: tuple[Array, LinearizedErrors] | None = None

    @property
    def prior(self) -> Array:
        """Return the deviations (size,) of the numbers before the calibration."""
        return self.unknowns.prior

    def rows(self, chosen: NDArray[Any]) -> ArmProblem:
        """Return the equations of some poses."""
        return ArmProblem(self.unknowns, self.body, self.samples.rows(chosen), self.start,
                          self.begin[chosen])

    def frames(self, z: Array) -> tuple[Array, Array]:
        """Return where instrument and target are, (4, 4) each."""
        base, target = (self.start[name] @ se3.exp(self.unknowns.frame(name, z))
                        for name in CALIBRATED_FRAMES)
        return se3.normalize(base), se3.normalize(target)

    def further(self, z: Array) -> Array:
        """Return the further numbers of the measurement, m."""
        count = self.samples.further
        return np.asarray(self.start.get('further', np.zeros(count)) + z[len(z) - count:])

    def errors(self, z: Array) -> tuple[Array, Array]:
        """Return errors of positions (n, 3 k or 1), m, and of rotations (n, 3 or 0), rad."""
        wide, (position, rotation) = self.samples.positions.shape[1], self.samples.deviations
        found = self.at(z).errors
        return found[:, :wide] * position, found[:, wide:] * rotation

    def distances(self, z: Array) -> Array:
        """Return how far (n,) poses are off, m, rms of their reflectors."""
        off = self.errors(z)[0]
        return np.asarray(np.sqrt((off**2).sum(axis=1) / max(off.shape[1] / 3.0, 1.0)))

    def at(self, z: Array) -> LinearizedErrors:
        """Return the equations at z; loops are closed again."""
        if self._last is not None and np.array_equal(self._last[0], z):
            return self._last[1]
        model, unknowns, samples = self.unknowns.moved(z), self.unknowns, self.samples
        closed = Constraints(model) if is_looped(model) else None
        if closed is not None:
            closing = Closing(closed, free_coordinates(model, samples.names))
            self.settled[:] = [self._close(model, closing, k) for k in range(len(self.settled))]
        wide = samples.positions.shape[1] + (0 if samples.rotations is None else 3)
        errors = np.full((len(samples.readings), wide), OPEN_LOOP_ERROR)
        derivatives = np.zeros((*errors.shape, unknowns.size))
        if self.settled.any():
            errors[self.settled], derivatives[self.settled] = self._settled_at(z, model, closed)
        self._last = z.copy(), LinearizedErrors(errors, derivatives)
        return self._last[1]

    def _settled_at(self, z: Array, model: Model, closed: Constraints | None
                    ) -> tuple[Array, Array]:
        """Return errors (k, d) of the settled poses at z, and their derivatives (k, d, size)."""
        unknowns, dynamics = self.unknowns, Dynamics(model) if closed is None else closed.tree
        base, target = self.frames(z)
        poses = np.array([dynamics.kinematics(q).poses for q in self.q[self.settled]])
        seen = poses[:, model.body_index(self.body)] @ target
        by_numbers, twists = self._by_numbers(model, closed, poses), 6 * unknowns.twists
        by_numbers[..., :twists] = np.einsum(
            'nikj,kjl->nikl', by_numbers[..., :twists].reshape(len(poses), 6, -1, 6),
            se3.right_jacobian(unknowns.twists_of(z))).reshape(len(poses), 6, twists)
        turned = np.zeros((len(poses), 6, unknowns.size))  # twists of the target by z
        turned[..., :unknowns.of_machine] = se3.adjoint(se3.inverse(target)) @ (
            by_numbers @ unknowns.basis)
        for name, about in (('instrument', se3.adjoint(se3.inverse(seen))),
                            ('target', np.eye(6))):
            if name in unknowns.frames:
                first = unknowns.of_machine + 6 * unknowns.frames.index(name)
                turned[..., first:first + 6] = about @ se3.right_jacobian(unknowns.frame(name, z))
        samples, further = self.samples.rows(self.settled), self.further(z)
        return (samples.errors(base @ seen, further),
                samples.slopes(base @ seen, further, turned))

    def _close(self, model: Model, closing: Closing, k: int) -> bool:
        """Close the loops of a pose near where they were; return whether that is possible."""
        found, left = closing.close(self.begin[k])
        away = np.abs(model.difference(self.begin[k], found)).max()
        if left > STALLED_RESIDUAL or away > FOLLOWED_FAR:  # too long a step, or a wrong reading
            return False
        self.q[k] = found
        return True

    def _by_numbers(self, model: Model, closed: Constraints | None, poses: Array) -> Array:
        """
        Return twists (k, 6, numbers) of the body by those of frames (13.26), and by lengths.

        poses (k, B, 4, 4) are those of all bodies at the settled poses.
        """
        unknowns = self.unknowns
        result = np.zeros((len(poses), 6, len(unknowns.basis)))
        back = se3.inverse(poses[:, model.body_index(self.body)])
        before = {joint.name for joint in chain_of(model, self.body)}
        for j, joint in enumerate(unknowns.joints):
            if joint.name in before:
                placed = model.joint(joint.name).placement
                whole = placed if joint.parent is None else (
                    poses[:, model.body_index(joint.parent)] @ placed)
                result[..., 6 * j:6 * j + 6] = se3.adjoint(back @ whole)
        if closed is not None:
            follow = following(model, self.samples.names, self.body)
            result += following_twists(unknowns, follow, self.body, closed, self.q[self.settled])
        return result
