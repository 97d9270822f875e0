# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Inverse, forward and hybrid dynamics of a model with closed loops and couplings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, require_kind, unknown_name
from liedyn_ros.common.errors import ModelError, OpenTreeWarning, warn
from liedyn_ros.common.other_names import DYNAMICS_NAMES, missing
from liedyn_ros.dynamics.bearing_loads import joint_wrenches
from liedyn_ros.dynamics.constrained.algorithms.hybrid import ConstrainedForward, ConstrainedHybrid
from liedyn_ros.dynamics.constrained.algorithms.inverse import ConstrainedInverse
from liedyn_ros.dynamics.constrained.configurations.misfit import (
    closure_gaps, ClosureGap, relaxed)
from liedyn_ros.dynamics.constrained.configurations.mobility import Mobility
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.constraints.function import ConstraintFunction
from liedyn_ros.dynamics.constrained.constraints.tables import exclusive
from liedyn_ros.dynamics.constrained.solver.solution import Solved
from liedyn_ros.dynamics.constrained.solver.solver import Solver
from liedyn_ros.dynamics.dynamics import Dynamics
from liedyn_ros.model import Model
from liedyn_ros.model.parts.geometry import checked_pose

# What users take for the loops' own: inverse at zero acceleration, and the response to efforts.
OF_OPEN_TREE = 'bias', 'inverse_mass_matrix'


class ConstrainedDynamics(Constraints):
    """
    The dynamics M(q) a + b(q, v) = tau + A^T lam, A v = 0, of a model with closures and couplings.

    inverse, forward and hybrid are called with one state, and their batch with K. Arrays are as
    for Dynamics. Where a call takes derivatives the array may be (nv,), or (order + 1, nv) with a
    row for each order. The result then has them too. external are wrenches (B, 6) on bodies, or
    (order + 1, B, 6). In a batch each array has an axis of states first; it runs on all cores.

    States must be closed: assembly.assemble and assembly.project make them so. Threads may share
    an object; one of them works in its tables at a time, but batches have tables of their own.
    functions are further constraints; those without jacobian_series are known to order 0.

    All calls raise ShapeError, NotFiniteError, NotInGroupError, and LimitError for an order above
    30. They raise SingularError naming a coordinate that moves no inertia, and LiedynError for a
    state that is not closed. Errors of a batch name the first state at fault. Where closures have
    a tolerance, rows that contradict others within it are not held: `model` has those held, and
    `gaps` says how far the others are open. ConvergenceError: they are open by more.

    >>> linkage = ld.ConstrainedDynamics(ld.load_model(config_file('four_bar.yaml')))
    >>> linkage.inverse(ld.assemble(linkage), rest, rest).shape
    (3,)
    """

    def __init__(self, model: Model, *, dissipation: bool = True,
                 functions: Sequence[ConstraintFunction] = ()) -> None:
        """
        Lay out the tables of a model.

        Args:
            model: a Model.
            dissipation: whether damping and friction of the joints act.
            functions: further constraints.

        Raises:
            LiedynError: for anything but a Model.
        """
        require_kind('model', model, Model, 'as load_model returns')
        super().__init__(relaxed(model, functions), dissipation=dissipation, functions=functions)
        self._solver = Solver(self)

    @cached_property
    def inverse(self) -> ConstrainedInverse:
        """Return inverse dynamics, tau of q, v and a that the loops allow: call it."""
        return ConstrainedInverse(self._solver)

    @cached_property
    def forward(self) -> ConstrainedForward:
        """Return forward dynamics, a and the forces that close loops, of q, v and tau: call it."""
        return ConstrainedForward(self._solver)

    @cached_property
    def hybrid(self) -> ConstrainedHybrid:
        """Return hybrid dynamics, a or tau of each coordinate being given: call it."""
        return ConstrainedHybrid(self._solver)

    @exclusive
    def reserve(self, order: int) -> bool:
        """
        Allocate tables for time derivatives to an order, ahead of the first call.

        Args:
            order: of the derivatives.

        Returns:
            whether they are new.

        >>> linkage.reserve(1)
        True
        """
        if not super().reserve(order):
            return False
        self._solver.bind()
        return True

    @exclusive
    def move_closures(self, places: Mapping[str, ArrayLike]) -> None:
        """
        Move the ground frames of closures, in the tables as they are.

        It takes microseconds, where a new object takes milliseconds. The ranks where nothing is
        singular stay those found before.

        Args:
            places: poses (4, 4) by closure; m.

        Raises:
            ModelError: for a name that is no closure with the ground.
            NotInGroupError: for a matrix that is no pose.

        >>> ground = linkage.twin()
        >>> ground.move_closures({})
        """
        closures = {closure.name: (i, closure) for i, closure in enumerate(self.model.closures)}
        moved = list(self.model.closures)
        for name, place in places.items():
            if name not in closures:
                raise unknown_name(ModelError, 'closure', closures, name)
            i, closure = closures[name]
            side = {closure.body_b: 'frame_b', closure.body_a: 'frame_a'}.get(None)
            if side is None:
                raise ModelError(f'closure {name}: expected one with the ground, got one between '
                                 f'{closure.body_a} and {closure.body_b}')
            frame = checked_pose(f'closure {name}', place)
            changed: dict[str, Any] = {side: frame}
            moved[i] = replace(closure, **changed)
        self.tree.constants.model = replace(self.model, closures=tuple(moved))
        self.data.follow_closures(self.model)
        self._solver.follow_closures()

    def twin(self) -> ConstrainedDynamics:
        """
        Return a copy of the machine with tables of its own, at the ranks found before.

        Returns:
            the copy, for another thread.

        >>> linkage.twin().model is linkage.model
        True
        """
        other = ConstrainedDynamics(self.model, dissipation=self.tree.dissipation,
                                    functions=self.functions)
        other._solver.take_ranks(self._solver)
        return other

    @exclusive
    def follow_tree(self) -> None:
        """
        Take inertias, placements, armatures and dissipation from the table of tree.

        A ParameterChart writes them there; model stays as it is. It takes microseconds.

        >>> linkage.twin().follow_tree()
        """
        self.data.follow(self.tree.constants)

    def __getattr__(self, name: str) -> Any:
        """
        Return an attribute of the machine's tree, such as mass_matrix, bias or center_of_mass.

        They are those of the equation above, and of all its bodies: the forces that close loops
        are not in them, which an OpenTreeWarning says once of b and M^-1. Otherwise an
        AttributeError leads from a name of another library to ours.
        """
        if not name.startswith('_') and hasattr(Dynamics, name):
            if name in OF_OPEN_TREE and self.m:
                warn(f'{name} is of the open tree, without the forces that close the loops: '
                     f'MinimalCoordinates has that of the loops, and tree.{name} is this one '
                     'without a warning', OpenTreeWarning)
                self.__dict__[name] = getattr(self.tree, name)
            return getattr(self.tree, name)
        raise missing(self, f'{type(self).__name__!r} object', name, DYNAMICS_NAMES)

    def __repr__(self) -> str:
        """Return the model, and the number of its constraints."""
        return f'<ConstrainedDynamics of {self.model!r}, {self.m} constraints>'

    def gravity_vector(self, q: ArrayLike, out: Array | None = None) -> Array:
        """
        Return the joint forces of actuated joints that hold the weight of the machine; no springs.

        What each joint of the open tree would bear is `tree.gravity_vector`.

        Args:
            q: closed configuration (nq,); rad and m.
            out: array that takes the result; by default a new one.

        Returns:
            forces (nv,), zero at passive joints; N m and N.

        Raises:
            ModelError: where the actuated joints do not hold the machine.
            LiedynError: for a state that is wrong or open.

        >>> linkage.gravity_vector(closed)[~linkage.model.actuated]
        array([0., 0.])
        """
        rest, springs = np.zeros(self.model.nv), self.tree.spring_forces(q)
        return np.subtract(self.inverse(q, rest, rest, tau=springs), springs, out=out)

    def gravity_vector_batch(self, q: ArrayLike) -> Array:
        """
        Return gravity_vector of K states, on all cores.

        Args:
            q: closed configurations (K, nq); rad and m.

        Returns:
            forces (K, nv), zero at passive joints; N m and N.

        Raises:
            ModelError: where the actuated joints do not hold the machine.
            LiedynError: for a state that is wrong or open.

        >>> linkage.gravity_vector_batch([closed]).shape
        (1, 3)
        """
        springs = self.tree.spring_forces_batch(q)
        rest = np.zeros_like(springs)
        return np.subtract(self.inverse.batch(q, rest, rest, tau=springs), springs)

    def gaps(self, q: ArrayLike) -> dict[str, ClosureGap]:
        """
        Return how far each closure is open, tolerated gaps too.

        Args:
            q: configuration (nq,); rad and m.

        Returns:
            length (m) and angle (rad) by closure.

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> max(gap.length for gap in linkage.gaps(closed).values()) < 1e-9
        True
        """
        return closure_gaps(self, self.model.check_configuration(q))

    def joint_wrenches(self, q: ArrayLike, v: ArrayLike, solution: Solved,
                       external: ArrayLike | None = None) -> dict[str, Array]:
        """
        Return the wrenches that the joints of the tree transmit, the loads of their bearings.

        Frames are as in dynamics.joint_wrenches. Forces of couplings and functions act along the
        screws of the joints. Where the constraints are redundant the loads are those of its
        multipliers, which are not the only ones.

        Args:
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            solution: of a call with q, v and external; of one with derivatives, order zero counts.
            external: wrenches (B, 6) on bodies, moment (N m) before force (N), each in the frame
                of its body; by default none.

        Returns:
            wrenches (6,) by joint, moment (N m) before force (N).

        Raises:
            LiedynError: for another shape, or a number that is not finite.

        >>> found = linkage.inverse(closed, rest, rest)
        >>> len(linkage.joint_wrenches(closed, rest, found))
        3
        """
        shapes = (self.model.nv,), (len(self.model.closures), 6)
        a, closures = (np.reshape(each, (-1, *shape))[0] for each, shape in zip(
            (solution.a, solution.wrenches), shapes))
        wrenches = joint_wrenches(self.tree, q, v, a, external, closures=closures)
        return dict(zip(self.model.joints, wrenches))

    @property
    def dissipation(self) -> bool:
        """Return whether damping and friction of the joints count."""
        return self.tree.dissipation

    @property
    def mobility(self) -> Mobility:
        """Return the freedom that the constraints leave where the machine is not singular."""
        return self._solver.mobility
