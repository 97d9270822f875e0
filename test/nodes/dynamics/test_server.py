# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The dynamics server's answers against the core's: every service, every topic, every joint."""

from builtin_interfaces.msg import Time
from liedyn_interfaces.msg import DynamicsAnswer, DynamicsQuery, TreeState
from liedyn_interfaces.srv import DescribeModel, EquationsOfMotion
import numpy as np
from numpy.testing import assert_allclose
import pytest
from std_msgs.msg import Header
from support.bench.dynamics_bench import AERIAL, ALGORITHMS, Motion, random_file, ServerBench

from liedyn_ros.ros.messages.conversions import nanoseconds
from liedyn_ros.ros.messages.tree_messages import TreeMessages

pytestmark = pytest.mark.ros
CLOSE = {'rtol': 1e-9, 'atol': 1e-9}  # a pose goes through a matrix on its way in


def matrix(values, model):
    return np.reshape(values, (model.nv, model.nv))


@pytest.mark.smoke
@pytest.mark.parametrize('external', [False, True])
def test_inverse_and_forward(server, path, external):
    x = Motion(path)
    wrenches = x.wrenches if external else None
    a, tau = x.found(server.ask('inverse_dynamics', x.query(external=external)))
    assert_allclose(a, x.a, rtol=1e-15)
    assert_allclose(tau, x.dynamics.inverse(x.q, x.v, x.a, wrenches), **CLOSE)
    x.tau = tau
    back, same = x.found(server.ask('forward_dynamics', x.query(False, True, external)))
    assert_allclose(back, x.a, rtol=1e-7, atol=1e-7)
    assert_allclose(same, tau, rtol=1e-15)


def test_hybrid_by_joint_by_base_and_by_coordinate(server, path):
    x = Motion(path)
    rng = np.random.default_rng(1)
    for _ in range(10):
        joints = [name for name in x.names if rng.random() < 0.4]
        others = [n for name in x.names if name not in joints
                  for n in x.model.joint(name).coordinate_names]
        names = joints + [name for name in others if rng.random() < 0.3]
        named = set(names) | {c for name in joints for c in x.model.joint(name).coordinate_names}
        if x.base is not None and rng.random() < 0.5:
            names.append(x.base.child)
            named |= set(x.base.coordinate_names)
        mask = np.array([name in named for name in x.model.coordinate_names])
        query = x.query(True, True, True, prescribed=[str(n) for n in rng.permutation(names)])
        a, tau = x.found(server.ask('hybrid_dynamics', query))
        expected = x.dynamics.hybrid(x.q, x.v, mask, x.a, x.tau, x.wrenches)
        assert_allclose(a, expected[0], rtol=1e-7, atol=1e-7)
        assert_allclose(tau, expected[1], rtol=1e-7, atol=1e-7)


def test_hybrid_does_not_read_what_is_not_given(server, path):
    x = Motion(path)
    name = x.names[0]
    mask = np.zeros(x.model.nv, dtype=bool)
    mask[x.model.joint(name).v_slice] = True
    expected = x.dynamics.hybrid(x.q, x.v, mask, x.a, x.tau)
    x.a[~mask], x.tau[mask] = np.nan, np.inf
    a, tau = x.found(server.ask('hybrid_dynamics', x.query(True, True, prescribed=[name])))
    assert_allclose(a, expected[0], rtol=1e-7, atol=1e-7)
    assert_allclose(tau, expected[1], rtol=1e-7, atol=1e-7)


def test_equations_of_motion(server, path):
    x = Motion(path)
    stamp = Time(sec=5, nanosec=6)
    found = server.call(EquationsOfMotion, 'equations_of_motion', state=x.state(),
                        header=Header(stamp=stamp))
    assert (found.success, found.message) == (True, '')
    assert found.header == Header(stamp=stamp, frame_id='' if x.base is None else x.base.child)
    assert found.coordinate_names == list(x.model.coordinate_names)
    assert_allclose(matrix(found.mass_matrix, x.model), x.dynamics.mass_matrix(x.q), **CLOSE)
    coriolis = matrix(found.coriolis_matrix, x.model)
    assert_allclose(coriolis, x.dynamics.coriolis_matrix(x.q, x.v), **CLOSE)
    assert_allclose(found.gravity, x.dynamics.gravity_vector(x.q), **CLOSE)
    efforts = (matrix(found.mass_matrix, x.model) @ x.a + coriolis @ x.v + found.gravity
               + found.resistance)
    _, tau = x.found(server.ask('inverse_dynamics', x.query()))
    assert_allclose(efforts, tau, rtol=1e-8, atol=1e-8)


def test_describe_model(server, path):
    x = Motion(path)
    found = server.call(DescribeModel, 'describe_model')
    assert (found.success, found.message, found.name) == (True, '', x.model.name)
    assert found.base_body == ('' if x.base is None else x.base.child)
    assert found.header.frame_id == found.base_body
    assert 0 < nanoseconds(found.header.stamp) <= server.node.now_ns()
    assert found.body_names == list(x.model.bodies)
    assert sorted(found.joint_names) == sorted(x.names)
    joints = [x.model.joint(name) for name in found.joint_names]
    assert [joint.vi for joint in joints] == sorted(joint.vi for joint in joints)
    assert found.joint_types == [joint.type_name for joint in joints]
    base = (7, 6) if x.base else (0, 0)
    assert sum(found.position_counts) + base[0] == x.model.nq
    assert sum(found.velocity_counts) + base[1] == x.model.nv
    assert found.coordinate_names == list(x.model.coordinate_names)
    for name, limits in (
            ('position_lower', x.model.limits.lower), ('position_upper', x.model.limits.upper),
            ('velocity_limit', x.model.limits.velocity), ('effort_limit', x.model.limits.effort)):
        assert_allclose(getattr(found, name), limits)
    assert found.mass == pytest.approx(x.model.mass)
    assert_allclose([found.gravity.x, found.gravity.y, found.gravity.z], x.model.gravity)


@pytest.mark.smoke
@pytest.mark.parametrize('algorithm', ALGORITHMS)
def test_topics_answer_as_services_do(bench, algorithm):
    server, x = ServerBench(bench, model_file=str(AERIAL)), Motion(AERIAL)
    given = {'inverse_dynamics': (True, False), 'forward_dynamics': (False, True),
             'hybrid_dynamics': (True, True)}[algorithm]
    query = x.query(*given, True, prescribed=['left_elbow'] if all(given) else [])
    query.header.stamp.sec, query.header.stamp.nanosec, query.request_id = 12, 34, 56
    answers = bench.collect(DynamicsAnswer, f'dynamics_server/{algorithm}/answer')
    queries = bench.publisher(DynamicsQuery, f'dynamics_server/{algorithm}/query')
    bench.until(lambda: answers, 'an answer', act=lambda: queries.publish(query))
    answer, other = answers[0], server.ask(algorithm, query)
    assert answer.success
    assert answer.solve_time > 0.0
    answer.solve_time = other.solve_time = 0.0
    assert answer == other
    assert answer.request_id == query.request_id
    assert answer.joint_names == query.state.joint_names
    assert answer.header.stamp == query.header.stamp
    assert answer.header.frame_id == 'base'
    answers.clear()
    query.state.joint_names[0] = 'tail'
    bench.until(lambda: answers, 'an answer', act=lambda: queries.publish(query))
    bench.until(lambda: not answers[-1].success, 'a refusal')
    assert "unknown ['tail']" in answers[-1].message
    assert answers[-1].header.stamp == query.header.stamp
    assert answers[-1].request_id == query.request_id


def test_empty_velocities_are_zero(server, path):
    x = Motion(path)
    x.v = np.zeros_like(x.v)
    query, silent = x.query(), x.query()
    silent.state.velocities = []
    expected, found = (x.found(server.ask('inverse_dynamics', each)) for each in (query, silent))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize('dissipation', [False, True])
def test_dissipation_is_an_option(bench, tmp_path, dissipation):
    path = random_file(tmp_path, 5, False)
    x = Motion(path, dissipation=dissipation)
    server = ServerBench(bench, model_file=str(path), dissipation=dissipation)
    _, tau = x.found(server.ask('inverse_dynamics', x.query()))
    assert_allclose(tau, x.dynamics.inverse(x.q, x.v, x.a), **CLOSE)
    found = server.call(EquationsOfMotion, 'equations_of_motion', state=x.state())
    assert np.any(found.resistance) == dissipation


def test_a_state_is_written_as_it_is_read(path):
    x, message = Motion(path), TreeState()
    tree = TreeMessages(x.model)
    tree.to_state(x.q, x.v, message)
    x.names = message.joint_names
    expected = x.state()
    for part, other in ((message.base_twist, expected.base_twist),
                        (message.child_frame_id, expected.child_frame_id),
                        (message.velocities, expected.velocities)):
        assert part == other
    assert_allclose(message.positions, expected.positions)
    q, v, _ = tree.read_state(message)
    assert_allclose(x.model.difference(x.q, q), 0.0, atol=1e-9)
    assert_allclose(v, x.v)
