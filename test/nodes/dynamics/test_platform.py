# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The dynamics server about a Stewart platform: its geometry file is the model."""

from geometry_msgs.msg import Accel, Twist, Wrench
from liedyn_interfaces.msg import (
    BodyWrench, DynamicsAnswer, DynamicsQuery, TreeAcceleration, TreeEffort, TreeState)
from liedyn_interfaces.srv import DescribeModel
import numpy as np
import pytest
from support.bench.dynamics_bench import pose_of, ServerBench, vector
from support.platforms.stewart_motion import motion

from liedyn_ros.common.resources import config_file
from liedyn_ros.ros.messages.conversions import from_twist
from liedyn_ros.stewart import load_geometry, model_state, platform_model, StewartDynamics

pytestmark = pytest.mark.ros
FILE = config_file('stewart_geometry.yaml')


class Asked:
    """A motion of the platform to order two, and the server's words for it."""

    def __init__(self):
        """Draw the motion."""
        rng = np.random.default_rng(4)
        self.geometry = load_geometry(FILE)
        self.moved = motion(rng)
        self.a, self.forces = rng.normal(size=(3, 6)), 20.0 * rng.normal(size=(3, 6))
        self.external = rng.normal(size=6)

    def query(self, accelerations=False, efforts=False, **fields):
        """Return a query about the platform alone."""
        w, v = self.moved.twist[:3], self.moved.twist[3:]
        query = DynamicsQuery(
            state=TreeState(child_frame_id='platform', base_pose=pose_of(self.moved.pose),
                            base_twist=Twist(angular=vector(w), linear=vector(v))),
            external=[BodyWrench(body='platform', wrench=Wrench(
                torque=vector(self.external[:3]), force=vector(self.external[3:])))], **fields)
        if accelerations:
            query.accelerations = [TreeAcceleration(base=Accel(
                angular=vector(a[:3]), linear=vector(a[3:]))) for a in self.a]
        if efforts:
            query.efforts = [TreeEffort(joints=forces.tolist()) for forces in self.forces]
        return query


def ready(bench):
    """Return a server whose kernels are warm, and a motion."""
    server, x = ServerBench(bench, model_file=str(FILE)), Asked()
    bench.until(lambda: server.call(DescribeModel, 'describe_model').success, 'warm loops')
    bench.until(lambda: server.ask('forward_dynamics', x.query(efforts=True)).success,
                'a warm platform')
    return server, x


def test_leg_forces_of_a_motion_and_the_motion_under_leg_forces(bench):
    server, x = ready(bench)
    dynamics = StewartDynamics(x.geometry)
    external = np.zeros((3, 6))
    external[0] = x.external
    answer = server.ask('inverse_dynamics', x.query(accelerations=True))
    assert (answer.success, answer.message) == (True, '')
    expected = dynamics.inverse(x.moved.pose, x.moved.twist, x.a, external=external)
    assert list(answer.joint_names) == list(x.geometry.leg_names)
    np.testing.assert_allclose([e.joints for e in answer.efforts], expected.forces, rtol=1e-9)
    np.testing.assert_allclose(
        [a.joints for a in answer.accelerations], expected.leg_accelerations, rtol=1e-9)
    assert answer.constraints == DynamicsAnswer.REGULAR
    answer = server.ask('forward_dynamics', x.query(efforts=True))
    expected = dynamics.forward(x.moved.pose, x.moved.twist, x.forces, external=external)
    np.testing.assert_allclose(
        [from_twist(a.base) for a in answer.accelerations], expected.acceleration, rtol=1e-9)


def test_a_platform_on_rails_is_answered_as_one_on_struts(bench):
    server, x = ready(bench)
    assert server.configure(model_file='stewart_hexaglide.yaml').successful
    x.geometry = load_geometry(config_file('stewart_hexaglide.yaml'))
    x.moved = x.moved._replace(rotation=np.eye(3), position=np.array([0.02, 0.01, 0.55]))
    dynamics, external = StewartDynamics(x.geometry), np.zeros((3, 6))
    external[0] = x.external
    answer = server.ask('inverse_dynamics', x.query(accelerations=True))
    assert (answer.success, answer.message) == (True, '')
    expected = dynamics.inverse(x.moved.pose, x.moved.twist, x.a, external=external)
    np.testing.assert_allclose([e.joints for e in answer.efforts], expected.forces, rtol=1e-9)
    answer = server.ask('forward_dynamics', x.query(efforts=True))
    expected = dynamics.forward(x.moved.pose, x.moved.twist, x.forces, external=external)
    np.testing.assert_allclose(
        [from_twist(a.base) for a in answer.accelerations], expected.acceleration, rtol=1e-9)


def test_a_query_that_names_all_joints_is_that_of_closed_loops(bench):
    server, x = ready(bench)
    model = platform_model(x.geometry)
    q, v = model_state(x.geometry, x.moved.pose, x.moved.twist)
    query, names = x.query(efforts=True), [joint.name for joint in model.joint_list[1:]]
    query.state.joint_names = names
    query.state.positions, query.state.velocities = q[7:].tolist(), v[6:].tolist()
    for effort, forces in zip(query.efforts, x.forces):
        joints = np.zeros(model.nv)
        joints[[model.joint(name).vi for name in x.geometry.leg_names]] = forces
        effort.joints = joints[6:].tolist()
    answer = server.ask('forward_dynamics', query)
    assert (answer.success, answer.message) == (True, '')
    assert len(answer.closures) == 3 * 6
    short = server.ask('forward_dynamics', x.query(efforts=True))
    for long, brief in zip(answer.accelerations, short.accelerations):
        np.testing.assert_allclose(from_twist(long.base), from_twist(brief.base), rtol=1e-7)


def test_spatial_accelerations_are_converted(bench):
    server, x = ready(bench)
    answers = [server.ask('forward_dynamics', x.query(efforts=True, base_twist_frame=kind))
               for kind in (DynamicsQuery.BODY, DynamicsQuery.SPATIAL)]
    x.a = np.array([from_twist(a.base) for a in answers[1].accelerations])
    back = server.ask('inverse_dynamics', x.query(
        accelerations=True, base_twist_frame=DynamicsQuery.SPATIAL))
    np.testing.assert_allclose([e.joints for e in back.efforts], x.forces, rtol=1e-7, atol=1e-7)
    assert from_twist(answers[0].accelerations[0].base) != pytest.approx(x.a[0])


def test_what_the_platform_cannot_answer_is_refused(bench):
    server, x = ready(bench)
    bad = x.query(efforts=True)
    bad.efforts[1].joints = [1.0]
    hybrid = x.query(accelerations=True, efforts=True)
    other = x.query(efforts=True)
    other.external[0].body = 'leg_1_rod'
    for name, query, reason in (
            ('forward_dynamics', bad, 'efforts[1].joints: expected 6 numbers'),
            ('hybrid_dynamics', hybrid, 'joint_names: expected all joints'),
            ('forward_dynamics', other, "external[0].body: expected 'platform'")):
        answer = server.ask(name, query)
        assert not answer.success
        assert reason in answer.message


def test_a_geometry_without_masses_is_refused(bench):
    server = ServerBench(bench, model_file=str(FILE))
    result = server.configure(model_file='stewart_octahedron.yaml')
    assert not result.successful
    assert 'masses' in result.reason
