# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Closed loops through the services: the answers are those of ConstrainedDynamics."""


from liedyn_interfaces.msg import DynamicsAnswer, DynamicsQuery
from liedyn_interfaces.srv import DescribeModel
import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.bench.dynamics_bench import Motion, ServerBench

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import (
    assemble, complete_acceleration, complete_velocity, ConstrainedDynamics, LEAST_FORCE,
    LEAST_TORQUE)
from liedyn_ros.model import load_model
from liedyn_ros.ros.messages.conversions import from_wrench

pytestmark = pytest.mark.ros
FIVE_BAR = config_file('five_bar.yaml')
COUPLED = """<robot name="gripper"><link name="palm"/>
<link name="left"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="right"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="a" type="continuous"><parent link="palm"/><child link="left"/>
<axis xyz="0 1 0"/></joint>
<joint name="b" type="continuous"><parent link="palm"/><child link="right"/>
<axis xyz="0 1 0"/><mimic joint="a" multiplier="-1"/></joint></robot>"""


class LoopMotion(Motion):
    """A closed state, and a motion that the loops allow."""

    def __init__(self, path, order=0):
        """Close the loops and complete the motion of the actuated joints."""
        super().__init__(path, order=order)
        self.loops = ConstrainedDynamics(self.model)
        self.q = assemble(self.loops)
        driven = [name.endswith('crank_joint') for name in self.model.coordinate_names]
        self.v = complete_velocity(self.loops, self.q, self.v, driven)
        self.a = complete_acceleration(self.loops, self.q, self.v, self.a, driven)


def ready(bench, path):
    """Return a server whose kernels of closed loops are warm, and what it says of the model."""
    server, found = ServerBench(bench, model_file=str(path)), []

    def described():
        found.append(server.call(DescribeModel, 'describe_model'))
        return found[-1].success

    bench.until(described, 'warm kernels of closed loops')
    return server, found[-1]


def wrenches(answer, model, orders):
    """Return what an answer says of all closures, (orders, C, 6)."""
    names = [closure.name for closure in model.closures]
    result = np.full((orders, len(names), 6), np.nan)
    for message in answer.closures:
        assert message.body == model.closures[names.index(message.closure)].body_b
        result[message.order, names.index(message.closure)] = from_wrench(message.wrench)
    return result


def test_a_model_with_loops_is_served(bench):
    server, told = ready(bench, FIVE_BAR)
    model = load_model(FIVE_BAR)
    assert (told.closure_names, told.closure_types) == (['tip'], ['revolute'])
    assert (told.closure_bodies_a, told.closure_bodies_b) == (['left_coupler'], ['right_coupler'])
    assert (told.degrees_of_freedom, len(told.redundant_constraints)) == (2, 3)
    assert list(told.actuated) == [name.endswith('crank_joint') for name in model.joints]
    for order in (0, 2):
        x = LoopMotion(FIVE_BAR, order)
        needed = x.loops.inverse(x.q, x.v, x.a)
        answer = server.ask('inverse_dynamics', x.query())
        _, tau = x.found(answer)
        assert_allclose(tau, needed.tau, rtol=1e-9, atol=1e-9)
        expected = np.reshape(needed.wrenches, (order + 1, 1, 6))
        assert_allclose(wrenches(answer, model, order + 1), expected, rtol=1e-9, atol=1e-9)
        assert answer.constraints == DynamicsAnswer.REDUNDANT
        x.tau = tau
        a, _ = x.found(server.ask('forward_dynamics', x.query(False, True)))
        assert_allclose(a, x.a, rtol=1e-7, atol=1e-7)
        driven = [name for name in x.names if name.endswith('crank_joint')]
        a, back = x.found(server.ask('hybrid_dynamics', x.query(True, True, prescribed=driven)))
        assert_allclose(a, x.a, rtol=1e-7, atol=1e-7)
        assert_allclose(back, tau, rtol=1e-7, atol=1e-7)


def test_the_query_says_which_redundancy_is_wanted(bench, tmp_path):
    path = tmp_path / 'driven.yaml'
    path.write_text(FIVE_BAR.read_text().replace(', actuated: false', ''))
    server, _ = ready(bench, path)
    x = LoopMotion(path)
    for redundancy, name in ((DynamicsQuery.LEAST_TORQUE, LEAST_TORQUE),
                             (DynamicsQuery.LEAST_FORCE, LEAST_FORCE)):
        _, tau = x.found(server.ask('inverse_dynamics', x.query(redundancy=redundancy)))
        expected = x.loops.inverse(x.q, x.v, x.a, redundancy=name).tau
        assert_allclose(tau, expected, rtol=1e-9, atol=1e-9)
    refused = server.ask('inverse_dynamics', x.query(redundancy=9))
    assert not refused.success
    assert 'redundancy: expected LEAST_TORQUE = 0 or LEAST_FORCE = 1, got 9' in refused.message


def test_a_state_or_motion_that_the_loops_do_not_allow_is_refused(bench):
    server, _ = ready(bench, FIVE_BAR)
    x = LoopMotion(FIVE_BAR)
    x.a = x.a + 1.0
    refused = server.ask('inverse_dynamics', x.query())
    assert not refused.success
    assert 'expected a motion that the constraints allow' in refused.message
    x.q = x.q + 0.1
    refused = server.ask('forward_dynamics', x.query(False, True))
    assert not refused.success
    assert "expected a state on the constraints, got ['tip/" in refused.message


def test_mimic_joints_are_held_when_asked(bench, tmp_path):
    path = tmp_path / 'gripper.urdf'
    path.write_text(COUPLED)
    server, told = ready(bench, path)
    x = Motion(path)
    assert (told.degrees_of_freedom, told.coupled_joints) == (2, [])
    x.q[x.model.joint('b').qi] = -x.q[x.model.joint('a').qi]
    x.v = np.array([1.0, -1.0])
    answer = server.ask('forward_dynamics', x.query(False, True))
    assert answer.constraints == DynamicsAnswer.UNCONSTRAINED
    assert server.configure(hold_couplings=True).successful
    bench.until(lambda: server.call(DescribeModel, 'describe_model').success, 'warm kernels')
    told = server.call(DescribeModel, 'describe_model')
    assert (told.degrees_of_freedom, told.coupled_joints, told.coupled_leaders) == (
        1, ['b'], ['a'])
    assert (*told.coupling_multipliers, *told.coupling_offsets) == (-1.0, 0.0)
    answer = server.ask('forward_dynamics', x.query(False, True))
    a, _ = x.found(answer)
    assert_allclose(a, ConstrainedDynamics(x.model).forward(x.q, x.v, x.tau).a, rtol=1e-9)
    assert_allclose(a[0], -a[1], rtol=1e-9)
    assert answer.constraints == DynamicsAnswer.REGULAR
