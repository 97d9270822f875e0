# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Answers to the queries of the dynamics server, from messages to messages."""

from collections.abc import Callable, Iterator
import math
import time

from builtin_interfaces.msg import Time
from liedyn_interfaces.msg import (
    BodyWrench, ClosureWrench, DynamicsAnswer, DynamicsQuery, TreeAcceleration, TreeEffort,
    TreeState)
from liedyn_interfaces.srv import DescribeModel, EquationsOfMotion, Linearize
import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array, require_finite
from liedyn_ros.common.errors import LiedynError, LimitError, NameSetError
from liedyn_ros.dynamics import Dynamics, FloatingBase
from liedyn_ros.dynamics.constrained import ConstraintStatus, LEAST_FORCE, LEAST_TORQUE
from liedyn_ros.dynamics.time_derivatives.estimate import NO_DIGIT, require_digits
from liedyn_ros.model import JOINT_TYPES, Model, ModelBuilder, SpatialInertia
from liedyn_ros.model.io.loading import xacro_package
from liedyn_ros.nodes.dynamics.linear_models import answer_linearize
from liedyn_ros.nodes.dynamics.question import explain, Question
from liedyn_ros.nodes.dynamics.solvers import (
    LoopSolver, Solved, Solver, TreeSolver, warm_up_loops)
from liedyn_ros.ros.messages import conversions
from liedyn_ros.ros.messages.tree_messages import count_entries, doubles, TreeMessages

Solve = Callable[[Question], Solved]
REDUNDANCIES = {
    DynamicsQuery.LEAST_TORQUE: LEAST_TORQUE, DynamicsQuery.LEAST_FORCE: LEAST_FORCE}
CONSTRAINTS = {None: DynamicsAnswer.UNCONSTRAINED} | {
    status: getattr(DynamicsAnswer, status.name) for status in ConstraintStatus}


class DynamicsAnswers:
    """
    Fills in the answers about one model.

    Every method raises LiedynError naming what was wrong, and has written nothing then.
    """

    def __init__(self, model: Model, *, dissipation: bool, hold_couplings: bool = False,
                 stamp: Time | None = None) -> None:
        """
        Take the model; with dissipation its joints feel their damping and friction.

        Its loops are closed, and its couplings held where it has loops, or where told.
        stamp: when the server took it, which describe_model tells.
        """
        self.model, self._stamp = model, stamp or Time()
        self._dynamics = Dynamics(model, dissipation=dissipation)
        self.with_loops = bool(model.closures or (hold_couplings and model.couplings))
        self._solver: Solver = (LoopSolver(model, dissipation=dissipation) if self.with_loops
                                else TreeSolver(self._dynamics))
        self._messages = TreeMessages(model)
        self._zero = np.zeros(model.nv)
        self._all, self._none = self._zero == 0.0, self._zero != 0.0

    @property
    def warm_ups(self) -> tuple[Callable[[], None], ...]:
        """Return what compiles the kernels that this model needs and a tree does not."""
        return (warm_up_loops,) if self.with_loops else ()

    def inverse(self, query: DynamicsQuery, answer: DynamicsAnswer) -> None:
        """Find the efforts of given accelerations."""
        self._answer(query, answer, self._solver.inverse, accelerations=True, efforts=False)

    def forward(self, query: DynamicsQuery, answer: DynamicsAnswer) -> None:
        """Find the accelerations under given efforts."""
        self._answer(query, answer, self._solver.forward, accelerations=False, efforts=True)

    def hybrid(self, query: DynamicsQuery, answer: DynamicsAnswer) -> None:
        """Find the accelerations of some joints and the efforts of the others."""
        self._answer(query, answer, self._solver.hybrid, accelerations=True, efforts=True)

    def equations_of_motion(
            self, request: EquationsOfMotion.Request,
            response: EquationsOfMotion.Response) -> None:
        """Find the matrices of the equations of motion at a state."""
        q, v, _ = self._messages.read_state(request.state)
        try:
            mass = self._dynamics.mass_matrix(q)
            coriolis = self._dynamics.coriolis_matrix(q, v)
            gravity = self._dynamics.gravity_vector(q)
            resistance = require_finite('resistance', self._dynamics.resistance(v))
        except LiedynError as error:
            raise explain(self._messages.names, Question(
                q, v, self._zero, self._zero, self._all, None), error) from error
        response.header.stamp = request.header.stamp
        response.header.frame_id = self._messages.names.base_body
        response.coordinate_names = list(self.model.coordinate_names)
        response.mass_matrix, response.coriolis_matrix = doubles(mass), doubles(coriolis)
        response.gravity, response.resistance = doubles(gravity), doubles(resistance)

    def linearize(self, request: Linearize.Request, response: Linearize.Response) -> None:
        """Find linear models about states."""
        answer_linearize(
            self._dynamics, self._solver, self._messages, request, response)

    def describe_model(
            self, _: DescribeModel.Request, response: DescribeModel.Response) -> None:
        """Tell what the model is made of."""
        mobility = self._solver.mobility()
        model, names = self.model, self._messages.names
        response.header.stamp, response.header.frame_id = self._stamp, names.base_body
        types = [JOINT_TYPES[joint.type_name] for joint in names.others.values()]
        response.name, response.base_body = model.name, names.base_body
        response.body_names, response.joint_names = list(model.bodies), list(names.others)
        response.joint_types = [joint.type_name for joint in names.others.values()]
        response.position_counts = [each.nq for each in types]
        response.velocity_counts = [each.nv for each in types]
        response.coordinate_names = list(model.coordinate_names)
        response.position_lower = doubles(model.limits.lower)
        response.position_upper = doubles(model.limits.upper)
        response.velocity_limit = doubles(model.limits.velocity)
        response.effort_limit = doubles(model.limits.effort)
        response.mass = float(model.mass)
        gravity = response.gravity
        gravity.x, gravity.y, gravity.z = model.gravity.tolist()
        response.actuated = model.actuated.tolist()
        response.closure_names = [closure.name for closure in model.closures]
        response.closure_types = [closure.type_name for closure in model.closures]
        response.closure_bodies_a = [closure.body_a or '' for closure in model.closures]
        response.closure_bodies_b = [closure.body_b or '' for closure in model.closures]
        couplings = model.couplings if self.with_loops else ()
        for coupling in couplings:
            for k, (leader, multiplier) in enumerate(coupling.terms):
                response.coupled_joints.append(coupling.joint)
                response.coupled_leaders.append(leader)
                response.coupling_multipliers.append(multiplier)
                response.coupling_offsets.append(0.0 if k else coupling.offset)
        response.degrees_of_freedom = mobility.degrees_of_freedom
        response.redundant_constraints = list(mobility.redundant)

    def _answer(self, query: DynamicsQuery, answer: DynamicsAnswer, solve: Solve, *,
                accelerations: bool, efforts: bool) -> None:
        """Answer a query that gives accelerations, efforts, or both."""
        messages = self._messages
        q, v, order = messages.read_state(query.state)
        entries = count_entries(query, accelerations=accelerations, efforts=efforts)
        zero = self._zero if entries == 1 else np.zeros((entries, self.model.nv))
        question = Question(
            q, v,
            messages.read_accelerations(query.accelerations, order, entries) if accelerations
            else zero,
            messages.read_efforts(query.efforts, order, entries) if efforts else zero,
            self._prescribed(query, accelerations, efforts),
            messages.read_external(query.external, entries), _redundancy(query),
            self._with_errors(query, efforts, entries))
        spatial = self._spatial(query, question)
        try:
            begin = time.perf_counter()
            solved = (solve(question) if spatial is None
                      else self._solve_spatial(spatial, solve, question))
            answer.solve_time = time.perf_counter() - begin
        except LiedynError as error:
            raise explain(messages.names, question, error) from error
        if solved.errors is not None:
            require_digits(solved.errors, query.max_error or NO_DIGIT)
            answer.errors = doubles(solved.errors)
        answer.header.frame_id = messages.names.base_body
        answer.joint_names = query.state.joint_names
        answer.accelerations = [
            messages.to_acceleration(row, order) for row in np.atleast_2d(solved.a)]
        answer.efforts = [messages.to_effort(row, order) for row in np.atleast_2d(solved.tau)]
        answer.constraints = CONSTRAINTS[solved.status]
        if solved.wrenches is not None:
            answer.closures = list(self._closure_wrenches(solved.wrenches))

    def _closure_wrenches(self, wrenches: Array) -> Iterator[ClosureWrench]:
        """Return the messages of wrenches (C, 6), or (order + 1, C, 6)."""
        for order, of_order in enumerate(wrenches if wrenches.ndim == 3 else wrenches[None]):
            for closure, wrench in zip(self.model.closures, of_order):
                message = ClosureWrench(
                    closure=closure.name, body=closure.body_b or '', order=order)
                conversions.to_wrench(wrench, message.wrench)
                yield message

    def _prescribed(self, query: DynamicsQuery, accelerations: bool,
                    efforts: bool) -> NDArray[np.bool_]:
        if accelerations and efforts:
            return self._messages.names.prescribed(query.prescribed)
        if query.prescribed:
            raise NameSetError('prescribed: expected no names, as the dynamics asked for are not '
                               f'hybrid, got {len(query.prescribed)}')
        return self._all if accelerations else self._none

    def _with_errors(self, query: DynamicsQuery, efforts: bool, entries: int) -> bool:
        """Return whether errors of orders are looked for; only those of trees are found."""
        if not 0.0 <= query.max_error < math.inf:
            raise LimitError(f'max_error: expected a number from 0 on, got {query.max_error}')
        found = efforts and not self.with_loops
        if query.max_error and not found:
            raise LimitError('max_error: expected 0, as errors are found for forward and hybrid '
                             f'dynamics of trees alone, got {query.max_error}')
        return found and (entries > 1 or query.max_error > 0.0)

    def _spatial_base(self, query: DynamicsQuery) -> FloatingBase | None:
        """Return the base if its accelerations are those of the spatial twist."""
        convention = query.base_twist_frame
        if convention not in (DynamicsQuery.BODY, DynamicsQuery.SPATIAL):
            raise LimitError(f'base_twist_frame: expected BODY = {DynamicsQuery.BODY} or SPATIAL '
                             f'= {DynamicsQuery.SPATIAL}, got {convention}')
        return None if convention == DynamicsQuery.BODY else self._messages.base

    def _spatial(self, query: DynamicsQuery, x: Question) -> FloatingBase | None:
        """Return the base as above, where it is prescribed as a whole or not at all."""
        base = self._spatial_base(query)
        if base is None:
            return None
        count = int(np.count_nonzero(x.prescribed[:6]))
        if 0 < count < 6:
            raise NameSetError('prescribed: expected all coordinates of the base or none, as '
                               f'base_twist_frame is SPATIAL, got {count}')
        return base

    def _solve_spatial(
            self, base: FloatingBase, solve: Solve, x: Question) -> Solved:
        """Solve, with the base's accelerations those of the spatial twist going in and out."""
        if not x.prescribed[0]:
            solved = solve(x)
            return solved._replace(a=base.to_spatial(x.q, x.v, solved.a))
        solved = solve(x._replace(a=base.to_body(x.q, x.v, x.a)))
        solved.a[..., :6] = x.a[..., :6]  # as given
        return solved


def _redundancy(query: DynamicsQuery) -> str:
    redundancy = REDUNDANCIES.get(query.redundancy)
    if redundancy is None:
        raise LimitError(f'redundancy: expected LEAST_TORQUE = {DynamicsQuery.LEAST_TORQUE} or '
                         f'LEAST_FORCE = {DynamicsQuery.LEAST_FORCE}, got {query.redundancy}')
    return redundancy


def warm_up() -> None:
    """Compile the kernels, or load them from the cache, on a pendulum; import what models need."""
    xacro_package()
    builder = ModelBuilder('pendulum')
    builder.add_body('bob', SpatialInertia(1.0, (0.0, 0.0, -1.0), np.zeros((3, 3))))
    builder.add_joint('pivot', 'revolute', None, 'bob', axis=(1.0, 0.0, 0.0))
    answers = DynamicsAnswers(builder.build(), dissipation=True)
    state = TreeState(joint_names=['pivot'], positions=[0.1], velocities=[0.0])
    external = [BodyWrench(body='bob')]
    for entries in (1, 2):
        given = {'accelerations': [TreeAcceleration(joints=[0.0])] * entries,
                 'efforts': [TreeEffort(joints=[0.0])] * entries}
        answers.hybrid(DynamicsQuery(state=state, external=external, **given), DynamicsAnswer())
        for name, solve in (('accelerations', answers.inverse), ('efforts', answers.forward)):
            solve(DynamicsQuery(state=state, **{name: given[name]}), DynamicsAnswer())
    answers.equations_of_motion(
        EquationsOfMotion.Request(state=state), EquationsOfMotion.Response())
    answers.linearize(Linearize.Request(states=[state]), Linearize.Response())
