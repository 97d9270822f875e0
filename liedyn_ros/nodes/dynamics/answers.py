# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The requests and queries about one model: read, computed and answered."""

from collections.abc import Callable
import time
from types import ModuleType
from typing import Any

from builtin_interfaces.msg import Time
from liedyn_interfaces.msg import (
    BodyWrench, DynamicsAnswer, DynamicsQuery, TreeAcceleration, TreeEffort, TreeState)
from liedyn_interfaces.srv import (
    DescribeModel, EquationsOfMotion, InverseKinematics, Linearize, RetimeTrajectory)
import numpy as np

from liedyn_ros.common.budget import Budget
from liedyn_ros.common.checks import named_values, require_finite
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.dynamics import Dynamics, FloatingBase
from liedyn_ros.dynamics.constrained import ConstrainedDynamics
from liedyn_ros.dynamics.time_derivatives.estimate import NO_DIGIT, require_digits
from liedyn_ros.model import Model
from liedyn_ros.nodes.dynamics.algorithms import (
    Algorithms, Compute, LoopAlgorithms, Result, TreeAlgorithms)
from liedyn_ros.nodes.dynamics.inputs import explain, RequestInputs
from liedyn_ros.nodes.dynamics.linear_models import handle_linearize
from liedyn_ros.nodes.dynamics.reaching import handle_inverse_kinematics
from liedyn_ros.nodes.dynamics.reading import QueryReader, write_description, write_result
from liedyn_ros.ros.messages.tree_messages import doubles, TreeMessages
from liedyn_ros.stewart import StewartGeometry

MAX_MATRIX_ROWS = 1000  # of M and C


class DynamicsAnswers:
    """
    Handles the requests and queries about one model: each method fills in its answer.

    Every method raises LiedynError that names the wrong field, and then has written nothing.
    """

    def __init__(self, model: Model, *, dissipation: bool, hold_couplings: bool = False,
                 stamp: Time | None = None) -> None:
        """
        Take the model; dissipation: with the damping and friction of its joints.

        Its loops are closed. Its couplings are held where it has loops, or with hold_couplings.
        stamp: the time at which the server took the model, for describe_model.
        """
        self.model, self._stamp = model, stamp or Time()
        self._dynamics = Dynamics(model, dissipation=dissipation)
        self.with_loops = bool(model.closures or (hold_couplings and model.couplings))
        self._algorithms: Algorithms = (
            LoopAlgorithms(model, dissipation=dissipation) if self.with_loops
            else TreeAlgorithms(self._dynamics))
        self._messages = TreeMessages(model, held=self.with_loops)
        self._reader = QueryReader(self._messages, with_loops=self.with_loops)
        self._dissipation, self._solvers = dissipation, dict[Any, Any]()
        self.payload: Any = None  # PayloadStream, once it is watched
        self.external_efforts: Any = None  # ExternalEfforts likewise

    def watch_payload(self, body: str, *, offsets: bool) -> None:
        """Estimate from now on what a body carries. Raises ModelError."""
        from liedyn_ros.identification import PayloadStream  # which most servers never need
        self.payload = PayloadStream(
            self.model, body, offsets=offsets, dissipation=self._dissipation)

    def watch_external_efforts(self, gain: float, levels: str) -> None:
        """Estimate from now on what touches the machine. Raises LiedynError."""
        from liedyn_ros.nodes.dynamics.external_efforts import ExternalEfforts  # likewise
        self.external_efforts = ExternalEfforts(
            self._own(), gain=gain, levels=named_values('external_effort_levels', levels),
            **self._measured())

    @property
    def messages(self) -> TreeMessages:
        """Return the reader and writer of messages about the model."""
        return self._messages

    def inverse(self, query: DynamicsQuery, answer: DynamicsAnswer) -> None:
        """Find the efforts of given accelerations."""
        self._answer(query, answer, self._algorithms.inverse, accelerations=True, efforts=False)

    def forward(self, query: DynamicsQuery, answer: DynamicsAnswer) -> None:
        """Find the accelerations under given efforts."""
        self._answer(query, answer, self._algorithms.forward, accelerations=False, efforts=True)

    def hybrid(self, query: DynamicsQuery, answer: DynamicsAnswer) -> None:
        """Find the accelerations of some joints and the efforts of the others."""
        self._answer(query, answer, self._algorithms.hybrid, accelerations=True, efforts=True)

    def equations_of_motion(
            self, request: EquationsOfMotion.Request,
            response: EquationsOfMotion.Response) -> None:
        """Find the matrices of the equations of motion at a state."""
        if self.model.nv > MAX_MATRIX_ROWS:
            raise LimitError(f'model: expected at most {MAX_MATRIX_ROWS} velocity coordinates for '
                             f'matrices, got {self.model.nv}')
        q, v, _ = self._messages.read_state(request.state)
        try:
            mass = self._dynamics.mass_matrix(q)
            coriolis = self._dynamics.coriolis_matrix(q, v)
            gravity = self._dynamics.gravity_vector(q)
            resistance = require_finite('resistance', self._dynamics.resistance(v))
        except LiedynError as error:
            zero = np.zeros(self.model.nv)
            raise explain(self._messages.names, RequestInputs(
                q, v, zero, zero, zero == 0.0, None), error) from error
        response.header.stamp = request.header.stamp
        response.header.frame_id = self._messages.names.base_body
        response.coordinate_names = list(self.model.coordinate_names)
        response.mass_matrix, response.coriolis_matrix = doubles(mass), doubles(coriolis)
        response.gravity, response.resistance = doubles(gravity), doubles(resistance)

    def linearize(self, request: Linearize.Request, response: Linearize.Response,
                  budget: Budget) -> None:
        """Find linear models about states, also for the goal and the result of the action."""
        handle_linearize(self._own(), self._messages, request, response, budget)

    def inverse_kinematics(
            self, request: InverseKinematics.Request, response: InverseKinematics.Response,
            budget: Budget) -> None:
        """Find configurations at which frames are at targets, and say whether they are."""
        handle_inverse_kinematics(
            self._dynamics, self._messages, self._solvers, request, response, budget)

    def retime(self, request: RetimeTrajectory.Request, response: RetimeTrajectory.Response,
               budget_of: Callable[[ModuleType], Any]) -> Any:
        """Find and return the fastest run; budget_of takes the module of retiming."""
        try:
            from liedyn_ros.nodes.dynamics.retiming import request as retiming
        except ModuleNotFoundError as error:  # without its conic solver
            raise LiedynError(str(error)) from error
        return retiming.handle_retime(self._own(), self._geometry(), self._messages, request,
                                      response, budget_of(retiming))

    def _own(self) -> Dynamics | ConstrainedDynamics:
        """Return dynamics for work that would hold the tables of closed loops long."""
        return (self._algorithms.another() if isinstance(self._algorithms, LoopAlgorithms)
                else self._dynamics)

    def _measured(self) -> dict[str, Any]:
        """Return the options of ExternalEfforts of which joints are measured: by default all."""
        return {}

    def _geometry(self) -> StewartGeometry | None:
        """Return the geometry of a platform, None of another machine."""
        return None

    def describe_model(
            self, _: DescribeModel.Request, response: DescribeModel.Response) -> None:
        """Describe the model."""
        mobility = self._algorithms.mobility()
        response.header.stamp = self._stamp
        write_description(self._messages.names, mobility, response, with_loops=self.with_loops)

    def _answer(self, query: DynamicsQuery, answer: DynamicsAnswer, compute: Compute, *,
                accelerations: bool, efforts: bool) -> None:
        """Answer a query that gives accelerations, efforts, or both."""
        inputs, order = self._reader.read(query, accelerations=accelerations, efforts=efforts)
        spatial = self._reader.whole_spatial_base(query, inputs)
        try:
            begin = time.perf_counter()
            result = (compute(inputs) if spatial is None
                      else _compute_spatial(spatial, compute, inputs))
            solve_time = time.perf_counter() - begin
        except LiedynError as error:
            raise explain(self._messages.names, inputs, error) from error
        if result.errors is not None:
            require_digits(result.errors, query.max_error or NO_DIGIT)
        answer.solve_time, answer.joint_names = solve_time, query.state.joint_names
        answer.model = self.model.digest
        write_result(self._messages, order, result, answer)


def _compute_spatial(base: FloatingBase, compute: Compute, x: RequestInputs) -> Result:
    """Return the result with the base's accelerations as derivatives of the spatial twist."""
    if not x.prescribed[0]:
        result = compute(x)
        return result._replace(a=base.to_spatial(x.q, x.v, result.a))
    result = compute(x._replace(a=base.to_body(x.q, x.v, x.a)))
    result.a[..., :6] = x.a[..., :6]  # as given
    return result


def _ask(answers: DynamicsAnswers, state: TreeState, entries: int) -> None:
    """Ask every query, with some entries of accelerations and efforts."""
    given = {'accelerations': [TreeAcceleration(joints=[0.0])] * entries,
             'efforts': [TreeEffort(joints=[0.0])] * entries}
    answers.hybrid(DynamicsQuery(state=state, external=[BodyWrench(body='bob')], **given),
                   DynamicsAnswer())
    for name, handle in (('accelerations', answers.inverse), ('efforts', answers.forward)):
        handle(DynamicsQuery(state=state, **{name: given[name]}), DynamicsAnswer())
