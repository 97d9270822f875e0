# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Linear models from the server against the core's: every machine, continuous and discrete."""

from geometry_msgs.msg import Wrench
from liedyn_interfaces.msg import BodyWrench, TreeEffort, TreeState
from liedyn_interfaces.srv import DescribeModel, Linearize
import numpy as np
from numpy.testing import assert_allclose
import pytest
from std_msgs.msg import Header
from support.bench.dynamics_bench import AERIAL, Motion, ServerBench, vector

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.dynamics.linearization import linearize, transition
from liedyn_ros.model import load_model
from liedyn_ros.nodes.dynamics.linear_models import MAX_STATES
from liedyn_ros.ros.messages.tree_messages import TreeMessages

pytestmark = pytest.mark.ros
CLOSE = {'rtol': 1e-8, 'atol': 1e-8}  # a pose goes through a matrix on its way in


def matrices(message, model):
    """Return A and B of a message."""
    n = model.nv
    return np.reshape(message.a_matrix, (2 * n, 2 * n)), np.reshape(message.b_matrix, (2 * n, n))


def effort(motion):
    """Return the efforts of a motion as a message."""
    return motion.query(False, True).efforts[0]


@pytest.mark.smoke
def test_about_states_of_a_trajectory(server, path):
    motions = [Motion(path, seed) for seed in range(3)]
    header, model = Header(), motions[0].model
    header.stamp.sec = 7
    found = server.call(
        Linearize, 'linearize', header=header, states=[x.state() for x in motions],
        efforts=[effort(x) for x in motions])
    assert (found.success, found.message, len(found.models)) == (True, '', 3)
    assert found.header == Header(stamp=header.stamp, frame_id=server.node._answers._messages
                                  .names.base_body)
    assert found.coordinate_names == list(model.coordinate_names)
    assert found.solve_time > 0.0
    for x, answer in zip(motions, found.models):
        wanted = linearize(x.dynamics, x.q, x.v, x.tau)
        for ours, theirs in zip(matrices(answer, model), wanted):
            assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8 * np.abs(theirs).max())
        a = x.rates(answer.acceleration, 'angular', 'linear')
        assert_allclose(a, x.dynamics.forward(x.q, x.v, x.tau), rtol=1e-7, atol=1e-7)
        assert_allclose(x.rates(answer.effort, 'torque', 'force'), x.tau, rtol=1e-15)


def test_discrete_models_about_efforts_that_hold(bench):
    server, x = ServerBench(bench, model_file=str(AERIAL)), Motion(AERIAL)
    x.v *= 0.1
    body, size = x.model.bodies[-1], x.model.nv
    external = np.zeros_like(x.wrenches)
    external[-1] = x.wrenches[-1]
    wrench = BodyWrench(body=body, wrench=Wrench(
        torque=vector(external[-1, :3]), force=vector(external[-1, 3:])))
    tau = x.dynamics.inverse(x.q, x.v, np.zeros(size), external)
    for follow, wanted in (
            (False, linearize(x.dynamics, x.q, x.v, tau, external).discrete(0.01)),
            (True, transition(x.dynamics, x.q, x.v, 0.01, tau, external)[2])):
        found = server.call(Linearize, 'linearize', states=[x.state()], external=[wrench],
                            step=0.01, follow_motion=follow)
        assert (found.success, found.message) == (True, '')
        for ours, theirs in zip(matrices(found.models[0], x.model), wanted):
            assert_allclose(ours, theirs, **CLOSE)
        assert_allclose(x.rates(found.models[0].effort, 'torque', 'force'), tau, **CLOSE)
        assert not any(found.models[0].acceleration.joints)


REFUSED = {  # 'states' is how often a state is sent
    'no state': ({'states': 0}, f'states: expected 1 to {MAX_STATES}, got 0'),
    'too many states': ({'states': MAX_STATES + 1}, f'got {MAX_STATES + 1}'),
    'too few efforts': (
        {'states': 3, 'efforts': [TreeEffort()]},
        'efforts: expected one for each of 3 states, or none, got 1'),
    'short effort': (
        {'efforts': [TreeEffort()]}, 'states[0]: efforts[0].joints: expected 6 numbers'),
    'NaN effort': (
        {'efforts': [TreeEffort(joints=[np.nan] * 6)]},
        'states[0]: effort of left_shoulder_roll: expected a finite number, got nan'),
    'negative step': ({'step': -1.0}, 'step: expected 0 to 10.0 s, got -1.0'),
    'NaN step': ({'step': np.nan}, 'step: expected 0 to 10.0 s, got nan'),
    'motion without a step': (
        {'follow_motion': True}, 'step: expected above 0 s with follow_motion, got 0'),
    'a step that overflows': (
        {'efforts': [TreeEffort(joints=[1e4] * 6)], 'step': 10.0},
        'states[0]: dt: expected one whose linear model is finite, got 10 s'),
    'wrench of an order': (
        {'external': [BodyWrench(body='base', order=1)]}, 'external[0].order: expected 0 at most'),
}


def test_a_machine_with_closed_loops(bench):
    """About the state at which it is assembled, at rest."""
    path = config_file('four_bar.yaml')
    server, model = ServerBench(bench, model_file=str(path)), load_model(path)
    bench.until(lambda: server.call(DescribeModel, 'describe_model').success, 'warm kernels')
    dynamics, rest = ConstrainedDynamics(model), np.zeros(model.nv)
    q = assemble(dynamics)
    state, tree = TreeState(), TreeMessages(model)
    tree.to_state(q, rest, state)
    tau = dynamics.inverse(q, rest, rest).tau
    for follow, wanted in (
            (False, linearize(dynamics, q, rest, tau).discrete(0.01)),
            (True, transition(dynamics, q, rest, 0.01, tau)[2])):
        found = server.call(
            Linearize, 'linearize', states=[state], step=0.01, follow_motion=follow)
        assert (found.success, found.message) == (True, '')
        for ours, theirs in zip(matrices(found.models[0], model), wanted):
            assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8 * np.abs(theirs).max())
    state.positions[0] += 0.1
    found = server.call(Linearize, 'linearize', states=[state], step=0.01)
    assert 'states[0]: q: expected a state on the constraints' in found.message


def test_refusals(bench):
    server, x = ServerBench(bench, model_file=str(AERIAL)), Motion(AERIAL)
    for given, reason in REFUSED.values():
        states = [x.state()] * given.get('states', 1)
        response = server.call(Linearize, 'linearize', **{**given, 'states': states})
        assert not response.success
        assert reason in response.message
        assert not response.models
    spoiled = x.state()
    spoiled.joint_names[0] = 'tail'
    response = server.call(Linearize, 'linearize', states=[x.state(), spoiled])
    assert 'states[1]: joint_names' in response.message
    assert server.call(Linearize, 'linearize', states=[x.state()]).success
