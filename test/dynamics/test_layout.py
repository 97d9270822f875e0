# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The same machine in the numbers of Pinocchio, MuJoCo and ROS: beside these libraries."""

import numpy as np
import pytest
from support.comparison import assert_same
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.errors import (
    LiedynError, ModelError, NameSetError, NotInGroupError, ShapeError)
from liedyn_ros.dynamics import Dynamics, Layout, MUJOCO, PINOCCHIO, ROS
from liedyn_ros.lie import so3
from liedyn_ros.model import load_urdf, ModelBuilder, pose, SpatialInertia

INERTIA = np.array([[0.03, 0.002, -0.001], [0.002, 0.04, 0.003], [-0.001, 0.003, 0.05]])
CENTER, LIBRARIES = [0.1, -0.02, 0.05], (PINOCCHIO, MUJOCO, ROS)


def machine():
    """Return a floating base with a hinge and a ball behind it, and a state of it."""
    builder, parent = ModelBuilder('machine'), None
    for name, kind, axis in (('base', 'free', None), ('elbow', 'revolute', [0.0, 1.0, 0.0]),
                             ('wrist', 'spherical', None)):
        builder.add_body(f'{name}_body', SpatialInertia(2.0, CENTER, INERTIA))
        builder.add_joint(name, kind, parent, f'{name}_body', axis=axis,
                          placement=None if parent is None else pose([0.2, 0.0, 0.3]))
        parent = f'{name}_body'
    model, rng = builder.build(), np.random.default_rng(4)
    return Dynamics(model), model.random(rng), *rng.normal(size=(3, model.nv))


@pytest.mark.parametrize('library', LIBRARIES, ids=lambda each: each.name)
def test_there_and_back(library):
    d, q, v, a, tau = machine()
    layout = Layout(d.model, library, ['wrist', 'base', 'elbow'])
    for there, back, values in (
            (layout.velocity, layout.from_velocity, v), (layout.effort, layout.from_effort, tau)):
        np.testing.assert_allclose(back(q, there(q, values)), values, atol=1e-14)
    np.testing.assert_allclose(
        layout.from_acceleration(q, v, layout.acceleration(q, v, a)), a, atol=1e-14)
    again = layout.from_configuration(layout.configuration(q))
    np.testing.assert_allclose(d.model.difference(q, again), 0.0, atol=1e-14)
    power = layout.effort(q, tau) @ layout.velocity(q, v)
    assert power == pytest.approx(tau @ v)


@pytest.mark.parametrize('library', LIBRARIES, ids=lambda each: each.name)
def test_accelerations_are_the_rates_of_velocities(library):
    d, q, v, a, _ = machine()
    layout, h = Layout(d.model, library), 1e-5

    def at(t):
        return layout.velocity(d.model.integrate(q, t * v), v + t * a)

    assert_same(layout.acceleration(q, v, a), (at(h) - at(-h)) / (2.0 * h), 1e-8)


def test_mujoco():
    mujoco = pytest.importorskip('mujoco')
    d, q, v, _, tau = machine()
    layout = Layout(d.model, MUJOCO)
    there = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(there)
    data.qpos, data.qvel = layout.configuration(q), layout.velocity(q, v)
    data.qfrc_applied = layout.effort(q, tau)
    mujoco.mj_forward(there, data)
    assert_same(layout.acceleration(q, v, d.forward(q, v, tau)), data.qacc, 1e-9)
    assert_same(layout.effort(q, d.bias(q, v)), data.qfrc_bias
                - layout.effort(q, transported(d, q, v)), 1e-9)


def transported(d, q, v):
    """Return M times what MuJoCo counts as acceleration of the base where the body has none."""
    offset = np.zeros_like(v)
    offset[3:6] = np.cross(v[:3], v[3:6])
    return -d.mass_matrix(q) @ offset


@pytest.mark.parametrize('floating', [False, True])
def test_pinocchio(floating):
    pin = pytest.importorskip('pinocchio')
    model = load_urdf(URDF, floating=floating)
    twin = pin.buildModelFromXML(URDF, *[pin.JointModelFreeFlyer()] * floating)
    names, rng, data = list(twin.names)[1:], np.random.default_rng(2), twin.createData()
    assert set(names) <= set(model.joints)  # the base is root_joint in both
    layout, d = Layout(model, PINOCCHIO), Dynamics(model, dissipation=False)
    assert_same(Layout(model, PINOCCHIO, names).velocity(model.neutral(), np.arange(model.nv)),
                layout.velocity(model.neutral(), np.arange(model.nv)), 1e-15)
    q, (v, a) = model.random(rng), rng.normal(size=(2, model.nv))
    state = layout.configuration(q), layout.velocity(q, v)
    assert len(state[0]) == twin.nq > model.nq
    assert_same(layout.effort(q, d.inverse(q, v, a)),
                pin.rnea(twin, data, *state, layout.acceleration(q, v, a)), 1e-11)
    step = layout.from_configuration(pin.integrate(twin, *state))
    apart = model.difference(step, model.integrate(q, v))  # by whole turns of the wheel
    np.testing.assert_allclose(np.sin(0.5 * apart), 0.0, atol=1e-12)


def test_ros_has_the_twist_of_an_odometry():
    d, q, v, _, _ = machine()
    there = Layout(d.model, ROS).velocity(q, v)
    np.testing.assert_array_equal(there[:6], [*v[3:6], *v[:3]])
    rotation = so3.from_quaternion(q[3:7])
    in_world = Layout(d.model, MUJOCO).velocity(q, v)[:3]
    np.testing.assert_allclose(in_world, rotation @ v[3:6], atol=1e-15)


def test_refusals():
    d, q, v, _, _ = machine()
    with refused(NameSetError, 'wrist'):
        Layout(d.model, ROS, ['base', 'elbow'])
    with refused(ShapeError, 'v'):
        Layout(d.model, ROS).velocity(q, v[1:])
    with refused(ShapeError, 'q'):
        Layout(d.model, MUJOCO).from_configuration(q[1:])
    with refused(LiedynError, 'library'):
        Layout(d.model, 'PINOCCHIO')
    wheel = Layout(load_urdf(URDF), PINOCCHIO)
    with refused(NotInGroupError, 'joint z_wheel'):
        wheel.from_configuration(np.zeros(6))
    builder = ModelBuilder('raised')
    builder.add_body('trunk', SpatialInertia(2.0, CENTER, INERTIA))
    builder.add_joint('base', 'free', None, 'trunk', placement=pose([0.0, 0.0, 1.0]))
    with refused(ModelError, "joints ['base']"):
        Layout(builder.build(), MUJOCO)
    with refused(ModelError, "joints ['planar_5']"):
        Layout(random_model(0, 10, False), PINOCCHIO)


BODY = (f'<inertial pos="{" ".join(map(str, CENTER))}" mass="2" fullinertia="'
        + ' '.join(str(INERTIA[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        + '"/>')
MJCF = f"""<mujoco><option gravity="0 0 -9.81"/><worldbody>
<body name="base_body"><freejoint name="base"/>{BODY}
<body name="elbow_body" pos="0.2 0 0.3"><joint name="elbow" axis="0 1 0"/>{BODY}
<body name="wrist_body" pos="0.2 0 0.3"><joint name="wrist" type="ball"/>{BODY}
</body></body></body></worldbody></mujoco>"""
LINK = """<link name="{0}"><inertial><origin xyz="0.1 0 0.2"/><mass value="1.5"/>
<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>
<axis xyz="{4}"/><origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""
LINKS = 'trunk', 'b', 'a', 'c', 'f', 'd', 'e'
URDF = '<robot name="arm">' + ''.join(map(LINK.format, LINKS)) + ''.join((
    JOINT.format('z_wheel', 'continuous', 'trunk', 'b', '0 1 0'),
    JOINT.format('a_slide', 'prismatic', 'trunk', 'a', '0 0 1'),
    JOINT.format('m_hinge', 'revolute', 'b', 'c', '1 0 0'),
    JOINT.format('n_mount', 'fixed', 'trunk', 'f', '1 0 0'),  # counts in the order
    JOINT.format('B_turn', 'revolute', 'f', 'd', '0 0 1'),
    JOINT.format('b_turn', 'revolute', 'f', 'e', '0 1 0'))) + '</robot>'
