# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Closed loops in minimal coordinates: a machine as its independent coordinates see it (12.22).

M_i a_i + b_i = tau_i with M_i = N^T M N and b_i = N^T (M N' v_i + h). The rates of all
coordinates are v = N v_i. The forces of the loops do no work and drop out. The kernels are those
of liedyn_loops_independent of the C library, with its bits.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, cast, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.dynamics.constrained.configurations.assembly import (
    MAX_PROJECTION_STEP, STEP_GROWTH)
from liedyn_ros.dynamics.constrained.configurations.kernels.closing import MAX_TRIALS
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.kernels.tolerances import (
    CLOSED_CONFIGURATION, STALLED_RESIDUAL)
from liedyn_ros.dynamics.constrained.minimal_motions import (
    all_accelerations, all_motions, directions, follow, IndependentCoordinates, least_efforts,
    reduced_mass, spread, whole_rates)
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels.independent_motions import (
    reduce_bias)
from liedyn_ros.dynamics.partial_derivatives.hybrid import ForwardJacobians
from liedyn_ros.dynamics.partial_derivatives.inverse import InverseJacobians
from liedyn_ros.dynamics.tree.constants import NO_WRENCHES
from liedyn_ros.dynamics.tree.inputs import kernel_array
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.joints import Limits


class Motions(NamedTuple):
    """
    The free motions N (nv, f) of independent coordinates, and their rate N' (nv, f).

    >>> MinimalCoordinates(linkage).motions_and_rate(closed, [0.0]).motions.shape
    (3, 1)
    """

    motions: Array
    rate: Array


class MinimalModel:
    """
    A model as f independent coordinates see it: nv, names, limits and motions are theirs.

    Configurations q (nq,) are closed ones of the whole model, to which all else belongs: integrate
    closes the loops. joint_list has the joints that are independent as a whole.
    """

    def __init__(self, least: MinimalCoordinates, known: NDArray[np.bool_]) -> None:
        """Take the coordinates and their mask."""
        whole, at = least.dynamics.model, np.cumsum(known) - 1
        self._least, self._known, self.nv = least, known, int(known.sum())
        self.coordinate_names: tuple[str, ...] = least.by
        self.actuated = whole.actuated[known]
        self.limits = Limits(nv=self.nv, **{
            each.name: getattr(whole.limits, each.name)[known] for each in fields(Limits)})
        self.joint_list = tuple(
            joint.numbered(joint.qi, int(at[joint.vi])) for joint in whole.joint_list
            if known[joint.v_slice].size and known[joint.v_slice].all())
        self.joints = tuple(joint.name for joint in self.joint_list)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the whole model."""
        if name.startswith('_'):
            raise AttributeError(name)
        return getattr(self._least.dynamics.model, name)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """Return the displacement (f,) of the independent coordinates from q0 to q1 (nq,)."""
        return np.asarray(self._least.dynamics.model.difference(q0, q1)[self._known])

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> Array:
        """
        Return the closed configuration (nq,) after a displacement dv (f,) of these coordinates.

        Raises ConvergenceError where the loops do not close there.
        """
        least, whole, follows = self._least, self._least.dynamics.model, self._least.follows
        start = ended = whole.check_configuration(q)
        wanted, before = as_array('dv', dv, (self.nv,)), np.inf
        for k in range(MAX_TRIALS):
            f, rows = least.dynamics.residual_and_jacobian(ended)
            left = wanted - whole.difference(start, ended)[self._known]
            size = max(least.dynamics.largest(f), float(np.abs(left).max(initial=0.0)))
            if size <= CLOSED_CONFIGURATION or 0.5 * before <= size <= STALLED_RESIDUAL:
                return ended
            motions, inverse = follow(least, rows)
            step, before = motions @ left, size
            step[follows] -= inverse @ f
            step /= max(1.0, np.abs(step).max(initial=0.0) /
                        (MAX_PROJECTION_STEP * STEP_GROWTH**k))
            ended = whole.integrate(ended, step)
        all_motions(least, start, np.zeros(whole.nv))  # says where these are too many
        raise ConvergenceError(
            f'dv: expected a displacement of {list(least.by)} at which the loops close, got one '
            f'that leaves {size:.3g} open after {MAX_TRIALS} steps')


class MinimalCoordinates(IndependentCoordinates):
    """
    The Dynamics M_i a_i + b_i = tau_i of f independent coordinates of a machine with loops.

    by names joints or coordinates that decide the motion, or is a mask (nv,); by default actuated
    ones as far as they can, at an assembly. A state is a closed configuration q (nq,) of the whole
    machine, and the rates v (f,) of the independent coordinates; a and tau (f,) are theirs as
    well. So linearize, simulate, MomentumObserver and retime take it as they take a tree. Rods
    between ball joints do not spin, as for inverse, unless by has that too; simulate lets them.
    external are wrenches (B, 6) on bodies. All calls raise ModelError where these coordinates do
    not decide the motion, as at a dead centre, and the errors of ConstrainedDynamics, as for an
    open q.

    >>> small = MinimalCoordinates(linkage, by=['crank_joint'])
    >>> small.mass_matrix(closed).shape
    (1, 1)
    """

    def __init__(self, dynamics: ConstrainedDynamics, by: ArrayLike | None = None) -> None:
        """
        Take a machine and its independent coordinates.

        Args:
            dynamics: of the machine with loops.
            by: joints or coordinates that decide the motion, or a mask (nv,).
        """
        super().__init__(dynamics, by)
        self.model = cast(Model, MinimalModel(self, self.known))  # to all who take a model
        self.inverse, self.forward = MinimalAlgorithm(self, True), MinimalAlgorithm(self, False)

    def __repr__(self) -> str:
        """Return the machine and the coordinates."""
        return f'<MinimalCoordinates {list(self.by)} of {self.dynamics.model!r}>'

    def motions(self, q: ArrayLike) -> Array:
        """
        Return the rates of all coordinates per rate of each independent one.

        Args:
            q: closed configuration (nq,); rad and m.

        Returns:
            N (nv, f).

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> MinimalCoordinates(linkage).motions(closed).shape
        (3, 1)
        """
        return all_motions(self, q, np.zeros(self.dynamics.model.nv))[0][:, self.known]

    def motions_and_rate(self, q: ArrayLike, v: ArrayLike) -> Motions:
        """
        Return the free motions and their time derivative (12.20).

        Args:
            q: closed configuration (nq,); rad and m.
            v: rates (f,) of the independent coordinates; rad/s and m/s.

        Returns:
            N and N', both (nv, f).

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> MinimalCoordinates(linkage).motions_and_rate(closed, [1.0]).rate.shape
        (3, 1)
        """
        motions, rate = all_motions(self, q, self.velocity(q, v))
        return Motions(motions[:, self.known], rate[:, self.known])

    def velocity(self, q: ArrayLike, v: ArrayLike) -> Array:
        """
        Return the rates of all coordinates.

        Args:
            q: closed configuration (nq,); rad and m.
            v: rates (f,) of the independent coordinates; rad/s and m/s.

        Returns:
            v (nv,).

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> MinimalCoordinates(linkage).velocity(closed, [1.0]).shape
        (3,)
        """
        return np.asarray(self.motions(q) @ as_array('v', v, (self.model.nv,)))

    def mass_matrix(self, q: ArrayLike) -> Array:
        """
        Return the mass matrix of the independent coordinates.

        Args:
            q: closed configuration (nq,); rad and m.

        Returns:
            M_i (f, f); kg m^2, kg m and kg.

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> MinimalCoordinates(linkage).mass_matrix(closed).shape
        (1, 1)
        """
        motions = all_motions(self, q, np.zeros(len(self.known)))[0]
        return reduced_mass(self, q, motions)[np.ix_(self.known, self.known)]

    def bias(self, q: ArrayLike, v: ArrayLike, external: ArrayLike | None = None) -> Array:
        """
        Return the forces of a motion without acceleration, dissipation included.

        Args:
            q: closed configuration (nq,); rad and m.
            v: rates (f,) of the independent coordinates; rad/s and m/s.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.

        Returns:
            b_i (f,); N m and N.

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> MinimalCoordinates(linkage).bias(closed, [1.0]).shape
        (1,)
        """
        tree, at = self.dynamics.tree, self.model.check_configuration(q)
        whole = self.velocity(q, v)
        motions, rate = all_motions(self, q, whole)
        wrenches = NO_WRENCHES if external is None else kernel_array(
            'external', external, (len(self.model.bodies), 6))
        bias = np.empty(len(whole))
        if not reduce_bias(tree.constants.table, tree.data.table, at, whole, wrenches, motions,
                           rate, np.empty((2, len(whole))), bias):
            tree.bias(q, whole, external)  # says why
            raise LimitError('v: expected one whose forces are finite, got one that is not')
        return bias[self.known]

    def efforts(self, q: ArrayLike, tau: ArrayLike, actuated: ArrayLike | None = None) -> Array:
        """
        Return joint forces of the actuators for forces at the independent coordinates.

        They have the least squares.

        Args:
            q: closed configuration (nq,); rad and m.
            tau: forces (f,) at the independent coordinates; N m and N.
            actuated: names of joints, or a mask (nv,); by default the actuated ones of the model.

        Returns:
            tau (nv,), zero where no actuator is.

        Raises:
            ModelError: where these actuators cannot have them.

        >>> MinimalCoordinates(linkage).efforts(closed, [2.0]).round(9) + 0.0
        array([2., 0., 0.])
        """
        tau, motions = as_array('tau', tau, (self.model.nv,)), self.motions(q)
        driven = (self.dynamics.model.leading if actuated is None
                  else self.dynamics.names.mask('actuated', actuated))
        return least_efforts(motions, driven, tau)


class MinimalAlgorithm:
    """
    Inverse dynamics, tau (f,) of q, v and a, or forward dynamics, a (f,) of q, v and tau: call it.

    given are a, or tau. All calls raise the errors of MinimalCoordinates.
    """

    def __init__(self, least: MinimalCoordinates, inverse: bool) -> None:
        """Take the coordinates, and which of the two it is."""
        self._least, self._inverse = least, inverse

    def __call__(self, q: ArrayLike, v: ArrayLike, given: ArrayLike,
                 external: ArrayLike | None = None) -> Array:
        """
        Return the forces of accelerations, or the accelerations under forces.

        Args:
            q: closed configuration (nq,); rad and m.
            v: rates (f,) of the independent coordinates; rad/s and m/s.
            given: their accelerations (f,), rad/s^2 and m/s^2, or forces (f,), N m and N.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.

        Returns:
            (f,) of the other.

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> small = MinimalCoordinates(linkage)
        >>> bool(np.abs(small.forward(closed, [1.0], small.bias(closed, [1.0]))).max() < 1e-9)
        True
        """
        least, given = self._least, as_array('a' if self._inverse else 'tau', given, (
            self._least.model.nv,))
        mass, bias = least.mass_matrix(q), least.bias(q, v, external)
        return np.asarray(mass @ given + bias if self._inverse else np.linalg.solve(
            mass, given - bias))

    def time_derivatives_batch(self, q: ArrayLike, v: ArrayLike, given: ArrayLike,
                               external: ArrayLike | None = None) -> Array:
        """
        Return the result with its time derivatives to order r, of K states.

        Args:
            q: closed configurations (K, nq); rad and m.
            v: rates (K, f) of the independent coordinates; rad/s and m/s.
            given: (K, r + 1, f) with time derivatives.
            external: wrenches (K, r + 1, B, 6) with time derivatives; by default none.

        Returns:
            (K, r + 1, f).

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> small = MinimalCoordinates(linkage)
        >>> small.inverse.time_derivatives_batch([closed], [[1.0]], np.zeros((1, 2, 1))).shape
        (1, 2, 1)
        """
        least, dynamics, known = self._least, self._least.dynamics, self._least.known
        q = as_array('q', q, (-1, least.model.nq))
        v = as_array('v', v, (len(q), least.model.nv))
        if self._inverse:
            return dynamics.inverse.batch(
                q, *whole_rates(least, q, v, given), external, actuated=known
                ).solution.tau[..., known]
        rates = np.array([least.velocity(*state) for state in zip(q, v)])
        tau = spread(least, given)
        if least.held.any():
            return dynamics.hybrid.batch(
                q, rates, least.held, np.zeros_like(tau), tau, external).a[..., known]
        return np.asarray(dynamics.forward.batch(q, rates, tau, external))[..., known]

    def partial_derivatives(self, q: ArrayLike, v: ArrayLike, given: ArrayLike,
                            external: ArrayLike | None = None
                            ) -> InverseJacobians | ForwardJacobians:
        """
        Return the Jacobians, those by q along model.integrate.

        Args:
            q: closed configuration (nq,); rad and m.
            v: rates (f,) of the independent coordinates; rad/s and m/s.
            given: their accelerations (f,), rad/s^2 and m/s^2, or forces (f,), N m and N.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.

        Returns:
            those of a tree, of f coordinates.

        Raises:
            ModelError: where the independent coordinates do not decide the motion.

        >>> derive = MinimalCoordinates(linkage).forward.partial_derivatives
        >>> derive(closed, [1.0], [0.0]).by_q.shape
        (1, 1)
        """
        least, known, f = self._least, self._least.known, self._least.model.nv
        whole = least.velocity(q, v)
        tau = self(q, v, given, external) if self._inverse else as_array('tau', given, (f,))
        at = all_accelerations(least, q, whole, spread(least, tau), external)
        by = np.hstack((at.by_q, at.by_v))[known] @ directions(least, q, v)
        parts = by[:, :f], by[:, f:], at.by_gravity[known]
        if not self._inverse:
            return ForwardJacobians(
                at.a[known], *parts[:2], at.by_tau[np.ix_(known, known)], parts[2])
        mass = least.mass_matrix(q)
        by_q, by_v, by_gravity = (-mass @ each for each in parts)
        return InverseJacobians(by_q, by_v, mass, by_gravity)
