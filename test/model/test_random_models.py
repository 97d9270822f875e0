# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Random trees of every joint type: their link table against Pinocchio and the joints' screws."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from scipy.linalg import expm
from support.machines.random_models import random_model
from support.witnesses.link_kinematics import body_poses, inertia_matrix, unpack

from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.model import Joint, JOINT_TYPES, load_model
from liedyn_ros.model.kernels import kinds

CASES = [(seed, floating) for seed in range(5) for floating in (False, True)]


@pytest.mark.parametrize('seed, floating', CASES)
def test_bodies_stand_where_pinocchio_puts_them(seed: int, floating: bool) -> None:
    pin = pytest.importorskip('pinocchio')
    from support.witnesses.pinocchio_twin import to_pinocchio
    model = random_model(seed, 20, floating)
    twin, rng = to_pinocchio(model), np.random.default_rng(seed)
    data = twin.model.createData()
    assert (model.nq, model.nv) == (twin.model.nq, twin.model.nv)
    assert model.mass == pytest.approx(sum(each.mass for each in twin.model.inertias))
    for _ in range(5):
        q = model.random(rng)
        pin.framesForwardKinematics(twin.model, data, q)
        wanted = [data.oMf[twin.model.getFrameId(name)].homogeneous for name in model.bodies]
        np.testing.assert_allclose(body_poses(model.link_table, q), wanted, atol=2e-14)


@pytest.mark.parametrize('seed, floating', CASES)
def test_joints_are_products_of_exponentials(seed: int, floating: bool) -> None:
    model = random_model(seed, 20, floating)
    q = model.random(np.random.default_rng(seed))
    poses = {None: np.eye(4), **dict(zip(model.bodies, body_poses(model.link_table, q)))}
    for joint in model.joint_list:
        if joint.type_name not in ('fixed', 'spherical', 'free'):
            motion = np.eye(4)
            for screw, x in zip(screws(joint), q[joint.q_slice]):
                motion = motion @ expm(screw * x)
            np.testing.assert_allclose(
                poses[joint.child], poses[joint.parent] @ joint.placement @ motion, atol=1e-13)


@pytest.mark.parametrize('seed, floating', CASES)
def test_links_hold_the_inertia_of_their_bodies(seed: int, floating: bool) -> None:
    pin = pytest.importorskip('pinocchio')
    from support.witnesses.pinocchio_twin import to_pinocchio
    model = random_model(seed, 20, floating)
    twin, table = to_pinocchio(model), model.link_table
    for i, joint in enumerate(model.joint_list):
        if joint.type_name == 'fixed':  # theirs has merged it
            assert not twin.model.existJointName(joint.name)
            continue
        pose_link_body = pin.SE3(unpack(table.body_placement[i]))
        wanted = pose_link_body.act(twin.model.inertias[twin.model.getJointId(joint.name)])
        got = inertia_matrix(table.inertia[table.body_link[i]])
        np.testing.assert_allclose(got, wanted.matrix(), atol=1e-13)


def test_random_models_hold_every_type() -> None:
    assert {joint.type_name for joint in random_model(0, 10, False).joint_list} == set(JOINT_TYPES)


def test_parents_come_first_and_inner_links_are_massless() -> None:
    model = random_model(1, 30, True)
    table = model.link_table
    assert (table.parent < np.arange(len(table.kind))).all()
    carriers = set(table.body_link)
    assert all(i in carriers or not row.any() for i, row in enumerate(table.inertia))
    assert sum(kinds.NV_OF_KIND[kind]
               for kind in table.kind) == model.nv == len(model.coordinate_names)


def test_arrays_are_read_only() -> None:
    robot = load_model(config_file('aerial_manipulator.yaml'))  # which has rotors and visuals
    for model in (robot, random_model(2, 10, True)):
        arrays = [*arrays_in(model), *arrays_in(model.limits)]
        assert len(arrays) > 100
        assert not any(array.flags.writeable for array in arrays)
    with pytest.raises(ValueError, match='read-only'):
        robot.joint_list[3].axis[0] = 5.0


def arrays_in(part: object) -> Iterator[Array]:
    """Go through the arrays in a dataclass or a tuple, at any depth."""
    if isinstance(part, np.ndarray):
        yield part
    elif is_dataclass(part):
        for field in fields(part):
            yield from arrays_in(getattr(part, field.name))
    elif isinstance(part, tuple):
        for inner in part:
            yield from arrays_in(inner)


def screws(joint: Joint) -> list[Array]:
    """Return the joint's elementary screws of theory 2.1 as 4 x 4 matrices."""
    z, x = joint.axis, joint.second_axis
    none, y = np.zeros(3), np.cross(z, x)
    pairs = {
        'revolute': [(z, none)], 'continuous': [(z, none)], 'prismatic': [(none, z)],
        'helical': [(z, joint.pitch * z)], 'universal': [(z, none), (x, none)],
        'cylindrical': [(z, none), (none, z)],
        'planar': [(none, x), (none, y), (z, none)]}[joint.type_name]
    matrices = []
    for w, v in pairs:
        matrix = np.zeros((4, 4))
        matrix[:3, :3], matrix[:3, 3] = np.cross(np.eye(3), w), v
        matrices.append(matrix)
    return matrices
