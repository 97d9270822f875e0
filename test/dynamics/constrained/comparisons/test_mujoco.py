# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""MuJoCo's equality constraints are soft: stiffened, they lead to the same accelerations."""

from itertools import pairwise
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
import pytest
from support.machines.looped_machines import random_looped

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained import ConstrainedDynamics, project
from liedyn_ros.lie import so3
from liedyn_ros.model import Model, ModelBuilder

mujoco = pytest.importorskip('mujoco')

JOINTS = {'revolute': 'hinge', 'prismatic': 'slide'}
EQUALITIES = {'spherical': 'connect', 'weld': 'weld'}
IMPEDANCES = (0.9, 0.99, 0.999, 0.9999)  # the last is the largest that MuJoCo takes


@pytest.mark.parametrize('closures, joints', [
    (('spherical',), 9), (('spherical', 'spherical'), 9), (('weld',), 12), ((), 9)])
def test_stiffened_constraints_approach_these_accelerations(
        closures: tuple[str, ...], joints: int) -> None:
    looped = random_looped(94, closures, joints, ('revolute', 'prismatic', 'revolute'))
    model, rng = looped.model, np.random.default_rng(86)
    if not closures:
        builder = ModelBuilder.of(model)
        builder.add_coupling('revolute_3', 'prismatic_1', -1.7, 0.2)
        model = builder.build()
    dynamics = ConstrainedDynamics(model, dissipation=False)
    q, v = project(dynamics, looped.q, np.zeros(model.nv))
    tau = rng.normal(size=model.nv)
    wanted = dynamics.forward(q, v, tau).a
    change = np.abs(dynamics.tree.forward(q, v, tau) - wanted).max()  # by the constraints
    found = [accelerations(model, q, tau, each) for each in IMPEDANCES]
    errors = [np.abs(each - wanted).max() / change for each in found]
    assert errors[-1] < 1e-3
    for soft, stiff in pairwise(errors):
        assert stiff < 0.2 * soft
    # The error is in proportion to (1 - d) / d: without it they are the same.
    before, last = ((1.0 - each) / each for each in IMPEDANCES[-2:])
    limit = found[-1] + (found[-1] - found[-2]) * last / (before - last)
    assert np.abs(limit - wanted).max() < 1e-5 * change


def accelerations(model: Model, q: Array, tau: Array, impedance: float) -> Array:
    """Return the accelerations of MuJoCo at rest."""
    machine = mujoco.MjModel.from_xml_string(document(model, impedance))
    data = mujoco.MjData(machine)
    data.qpos[:], data.qfrc_applied[:] = q, tau
    mujoco.mj_forward(machine, data)
    return data.qacc.copy()


def document(model: Model, impedance: float) -> str:
    """Return a model as MuJoCo reads it."""
    root = Element('mujoco')
    SubElement(root, 'compiler', angle='radian')
    SubElement(root, 'option', gravity=text(model.gravity), solver='Newton', tolerance='0',
               iterations='50')
    places: dict[str | None, Element] = {None: SubElement(root, 'worldbody')}
    for body, joint in zip(model.body_list, model.joint_list):
        place = SubElement(places[joint.parent], 'body', **placed(joint.placement))
        SubElement(place, 'joint', name=joint.name, type=JOINTS[joint.type_name],
                   axis=text(joint.axis))
        assert body.inertia is not None
        moments = body.inertia.inertia_about_com[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        SubElement(place, 'inertial', pos=text(body.inertia.center_of_mass),
                   mass=repr(body.inertia.mass), fullinertia=text(moments))
        places[body.name] = place
    held = SubElement(root, 'equality')
    softness = {'solimp': text([impedance, impedance, 1.0])}
    for closure in model.closures:
        for side, name, frame in (('a', closure.body_a, closure.frame_a),
                                  ('b', closure.body_b, closure.frame_b)):
            SubElement(places[name], 'site', name=f'{closure.name}_{side}', **placed(frame))
        SubElement(held, EQUALITIES[closure.type_name], site1=f'{closure.name}_a',
                   site2=f'{closure.name}_b', **softness)
    for coupling in model.couplings:
        SubElement(held, 'joint', joint1=coupling.joint, joint2=coupling.leader,
                   polycoef=text([coupling.offset, coupling.multiplier, 0, 0, 0]), **softness)
    return tostring(root, encoding='unicode')


def placed(pose: Array) -> dict[str, str]:
    """Return a pose as attributes; MuJoCo's quaternions begin with the scalar."""
    return {'pos': text(pose[:3, 3]), 'quat': text(np.roll(so3.to_quaternion(pose[:3, :3]), 1))}


def text(numbers: object) -> str:
    """Return numbers as an attribute."""
    return ' '.join(map(repr, np.asarray(numbers, dtype=float).tolist()))
