# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What users of other libraries type wrongly ends in an error with a remedy."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import liedyn_ros as ld
from liedyn_ros import (
    assemble, ConstrainedDynamics, Dynamics, joint_wrenches, LiedynError, load, load_geometry,
    load_model, LoopTracker, ModelBuilder, Names, PoseSolver, Regressor, SE3, SO3, SpatialInertia,
    to_urdf)
from liedyn_ros.common.resources import config_file
from liedyn_ros.model.replacement import with_armatures, with_inertias
from liedyn_ros.retiming.limits import MotionLimits
from liedyn_ros.retiming.paths.named_path import _require_known as require_waypoints

LINK = """<link name="{}"><inertial><mass value="1"/><origin xyz="0.3 0 0"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{}" type="revolute"><parent link="{}"/><child link="{}"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""
ARM = (f'<robot name="arm"><link name="base"/>{LINK.format("upper")}{LINK.format("tool0")}'
       f'{JOINT.format("shoulder", "base", "upper")}{JOINT.format("elbow", "upper", "tool0")}'
       '</robot>')
ROBOT, ZERO, WRENCH = load(ARM), np.zeros(2), np.zeros(6)
MODEL = ROBOT.model
GEOMETRY = load_geometry(config_file('stewart_geometry.yaml'))
LOAD = SpatialInertia(1.0, [0.0, 0.0, 0.0], np.eye(3))
A_MODEL, A_ROBOT = 'model: expected a Model, as load_model returns, got', 'dynamics: expected a '

OBJECTS = {  # the wrong object
    'Dynamics': (lambda: Dynamics('ur5.urdf'), f"{A_MODEL} 'ur5.urdf'"),
    'ConstrainedDynamics': (lambda: ConstrainedDynamics('ur5.urdf'), A_MODEL),
    'Regressor': (lambda: Regressor(ROBOT), f'{A_MODEL} <Dynamics of'),
    'Names': (lambda: Names(ROBOT), f'{A_MODEL} <Dynamics of'),
    'ModelBuilder': (lambda: ModelBuilder.of('ur5.urdf'), A_MODEL),
    'to_urdf': (lambda: to_urdf(ROBOT), A_MODEL),
    'joint_wrenches': (lambda: joint_wrenches(MODEL, ZERO, ZERO, ZERO), f'{A_ROBOT}Dynamics'),
    'LoopTracker': (lambda: LoopTracker(ROBOT), f'{A_ROBOT}ConstrainedDynamics'),
    'assemble': (lambda: assemble(MODEL, ZERO), 'constraints: expected a Constraints'),
    'PoseSolver': (lambda: PoseSolver('hexapod.yaml'), 'geometry: expected a StewartGeometry'),
    'load': (lambda: load(ROBOT), 'expected a path, got <Dynamics'),
    'load_model': (lambda: load_model(None), 'expected a path, got None'),
    'arguments': (lambda: load('robot.xacro', arguments=['prefix:=left_']), 'as a Mapping'),
    'arguments of a URDF': (lambda: load('robot.urdf', arguments=['prefix:=left_']), 'no xacro'),
    'arguments of a text': (lambda: load(ARM, arguments=['prefix:=left_']), 'no xacro argum'),
    'wrenches': (lambda: ROBOT.frames.external(ZERO, [WRENCH]), 'wrenches: expected a Mapping')}

NUMBERS = {  # wrong numbers
    'a rotation alone': (lambda: SE3(np.eye(3)), r'matrix: expected shape \(4, 4\), got \(3, 3'),
    'a pose of twice the size': (lambda: SE3(2.0 * np.eye(4)), r'matrix: expected \|R\^T R - 1\|'),
    'a reflection': (lambda: SO3(-np.eye(3)), 'matrix: expected det R = 1'),
    'half a pose': (lambda: SE3([[1.0, 0.0], [0.0, 1.0]]), r'matrix: expected shape \(4, 4\)'),
    'a point': (lambda: SE3.identity() @ np.zeros(3), r'matrix: expected shape \(4, 4\), got'),
    'a placement': (lambda: MODEL.with_frame('tcp', 'tool0', [0, 0, 0.1]), 'frame tcp: placem'),
    'no rotation': (lambda: SE3.from_rotation_translation(2.0 * np.eye(3), np.zeros(3)),
                    'rotation: expected'),
    'a dict': (lambda: ROBOT.inverse({'elbow': 0.0}, ZERO, ZERO), 'q: expected an array of real'),
    'texts': (lambda: ROBOT.inverse(['0', '0'], ZERO, ZERO), 'q: expected an array of real numb'),
    'names': (lambda: ROBOT.inverse(['shoulder', 'elbow'], ZERO, ZERO), 'q: expected an array'),
    'nothing': (lambda: ROBOT.inverse(None, ZERO, ZERO), 'q: expected an array of real numbers'),
    'complex': (lambda: ROBOT.inverse([1j, 0], ZERO, ZERO), 'q: expected an array of real num'),
    'a column': (lambda: ROBOT.inverse(np.zeros((2, 1)), ZERO, ZERO), r'q: expected shape \(2,\)'),
    'a mask': (lambda: ROBOT.mass_matrix(np.ma.masked_array(ZERO, [True, False])), 'q: .* mask'),
    'a wrench': (lambda: ROBOT.inverse(ZERO, ZERO, ZERO, WRENCH), r'external: .* \(3, 6\)'),
    'one state': (lambda: ROBOT.inverse.batch(ZERO, ZERO, ZERO), r'q: expected shape \(K, 2\)'),
    'a name of axes': (lambda: ROBOT.frames.jacobian(ZERO, 'tool0', 'WORLD'), 'axes: expected'),
    'a list as out': (lambda: ROBOT.inverse(ZERO, ZERO, ZERO, out=[0, 0]), 'out: expected'),
    'a text of names': (lambda: ROBOT.hybrid(ZERO, ZERO, 'elbow', ZERO, ZERO), 'list of names')}

UNKNOWN = {  # unknown names, and the nearest
    'joint': (lambda: MODEL.joint('elbw'), 'elbow'),
    'body': (lambda: MODEL.body('tool'), 'tool0'),
    'frame': (lambda: MODEL.frame_index('tol0'), 'tool0'),
    'frame on': (lambda: MODEL.with_frame('tcp', 'tool'), 'tool0'),
    'pose': (lambda: ROBOT.frames.pose(ZERO, 'tol0'), 'tool0'),
    'jacobian': (lambda: ROBOT.frames.jacobian(ZERO, 'tool'), 'tool0'),
    'wrench': (lambda: ROBOT.frames.external(ZERO, {'tool': WRENCH}), 'tool0'),
    'hybrid': (lambda: ROBOT.hybrid(ZERO, ZERO, ['elbw'], ZERO, ZERO), 'elbow'),
    'payload': (lambda: ModelBuilder.of(MODEL).add_payload('load', 'tool', LOAD), 'tool0'),
    'lock': (lambda: ModelBuilder.of(MODEL).lock_joint('sholder', 0.0), 'shoulder'),
    'joint type': (lambda: ModelBuilder.of(MODEL).add_joint('j', 'revolut', 'upper', 'x'),
                   'revolute'),
    'closure type': (lambda: ModelBuilder.of(MODEL).add_closure('c', 'wld', 'tool0', None),
                     'weld'),
    'shape': (lambda: ld.model.Visual('boxx', [1.0, 1.0, 1.0]), 'box'),
    'inertia': (lambda: with_inertias(MODEL, {'uper': np.ones(10)}), 'upper'),
    'armature': (lambda: with_armatures(MODEL, {'elbow_': 1.0}), 'elbow'),
    'limit': (lambda: MotionLimits({'elbw': 1.0}).of(MODEL), 'elbow'),
    'waypoint': (lambda: require_waypoints(['shouldr'], MODEL.joints), 'shoulder')}


@pytest.mark.parametrize(('call', 'message'), [*OBJECTS.values(), *NUMBERS.values()],
                         ids=[*OBJECTS, *NUMBERS])
def test_a_wrong_object_is_told_as_such(call, message):
    with pytest.raises(LiedynError, match=message):
        call()


@pytest.mark.parametrize(('call', 'nearest'), UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_name_gets_the_nearest(call, nearest):
    with pytest.raises(LiedynError, match=f'the nearest is {nearest!r}$') as caught:
        call()
    assert len(caught.value.names) == 1
    assert nearest in caught.value.expected
    assert caught.value.got == caught.value.names[0]


def test_a_misspelt_name_of_the_front_door_is_known_to_python():
    with pytest.raises(AttributeError) as caught:
        ld.Dynamic()
    assert (caught.value.name, caught.value.obj) == ('Dynamic', ld)  # it offers the nearest


def test_elements_are_matrices_wherever_matrices_are_taken():
    pose, turn = SE3.exp([0.1, 0.2, 0.3, 1.0, 2.0, 3.0]), SO3.exp([0.1, 0.2, 0.3])
    for rotation in (turn, turn.matrix):
        found = SE3.from_rotation_translation(rotation, pose.translation)
        np.testing.assert_allclose(found.matrix, pose.matrix, atol=0.0)
    np.testing.assert_array_equal(pose.matrix @ pose, (pose @ pose).matrix)
    model = MODEL.with_frame('tcp', 'tool0', pose)
    np.testing.assert_array_equal(model.frame_list[0].placement, pose.matrix)


@pytest.mark.parametrize('shown', [
    GEOMETRY, PoseSolver(GEOMETRY), Regressor(MODEL), Names(MODEL), ModelBuilder.of(MODEL), MODEL,
    ROBOT, ROBOT.data, ROBOT.inverse, ROBOT.frames, ROBOT.inverse.partial_derivatives,
    ROBOT.forward.partial_derivatives, ROBOT.hybrid.partial_derivatives], ids=repr)
def test_an_object_is_shown_in_a_line(shown):
    assert repr(shown).startswith('<')
    assert ' object at ' not in repr(shown)
    assert len(repr(shown)) < 200


@pytest.mark.parametrize('package', ['liedyn_ros', 'liedyn_ros.dynamics', 'liedyn_ros.stewart'])
def test_no_module_hides_a_name_that_is_imported_when_it_is_used(package):
    module = import_module(package)  # whose attribute a module of that name would become
    folder = Path(module.__file__).parent
    assert not [name for name in module.__all__
                if (folder / name).exists() or (folder / f'{name}.py').exists()]
