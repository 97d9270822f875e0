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
from support.refusals import ANY, refused

import liedyn_ros as ld
from liedyn_ros import (
    assemble, ConstrainedDynamics, Dynamics, joint_wrenches, LiedynError, load, load_geometry,
    load_model, LoopTracker, ModelBuilder, Names, PoseSolver, Regressor, SE3, SO3, SpatialInertia,
    to_urdf)
from liedyn_ros.common.checks import require_known
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.resources import config_file
from liedyn_ros.model.replacement import with_armatures, with_inertias
from liedyn_ros.retiming import retime, SplinePath
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

OBJECTS = {  # the wrong object
    'Dynamics': (lambda: Dynamics('ur5.urdf'), 'model'),
    'ConstrainedDynamics': (lambda: ConstrainedDynamics('ur5.urdf'), 'model'),
    'Regressor': (lambda: Regressor(ROBOT), 'model'),
    'Names': (lambda: Names(ROBOT), 'model'),
    'ModelBuilder': (lambda: ModelBuilder.of('ur5.urdf'), 'model'),
    'to_urdf': (lambda: to_urdf(ROBOT), 'model'),
    'joint_wrenches': (lambda: joint_wrenches(MODEL, ZERO, ZERO, ZERO), 'dynamics'),
    'LoopTracker': (lambda: LoopTracker(ROBOT), 'dynamics'),
    'assemble': (lambda: assemble(MODEL, ZERO), 'constraints'),
    'PoseSolver': (lambda: PoseSolver('hexapod.yaml'), 'geometry'),
    'retime': (lambda: retime('ur5.urdf', SplinePath(MODEL, [ZERO, ZERO + 1.0])), 'dynamics'),
    'load': (lambda: load(ROBOT), ANY),
    'load_model': (lambda: load_model(None), ANY),
    'arguments': (lambda: load('robot.xacro', arguments=['prefix:=left_']), 'robot.xacro'),
    'arguments of a URDF': (lambda: load('robot.urdf', arguments=['prefix:=left_']), 'robot.urdf'),
    'arguments of a text': (lambda: load(ARM, arguments=['prefix:=left_']), 'text of robot'),
    'wrenches': (lambda: ROBOT.frames.external(ZERO, [WRENCH]), 'wrenches')}

NUMBERS = {  # wrong numbers
    'a rotation alone': (lambda: SE3(np.eye(3)), 'matrix'),
    'a pose of twice the size': (lambda: SE3(2.0 * np.eye(4)), 'matrix'),
    'a reflection': (lambda: SO3(-np.eye(3)), 'matrix'),
    'half a pose': (lambda: SE3([[1.0, 0.0], [0.0, 1.0]]), 'matrix'),
    'a point': (lambda: SE3.identity() @ np.zeros(3), 'matrix'),
    'a placement': (lambda: MODEL.with_frame('tcp', 'tool0', [0, 0, 0.1]), 'frame tcp: placement'),
    'no rotation': (lambda: SE3.from_rotation_translation(2.0 * np.eye(3), np.zeros(3)),
                    'rotation'),
    'no dict': (lambda: ld.reach(ROBOT, 'tool0', np.eye(4)), 'targets'),
    'a dict': (lambda: ROBOT.inverse({'elbow': 0.0}, ZERO, ZERO), 'q'),
    'texts': (lambda: ROBOT.inverse(['0', '0'], ZERO, ZERO), 'q'),
    'names': (lambda: ROBOT.inverse(['shoulder', 'elbow'], ZERO, ZERO), 'q'),
    'nothing': (lambda: ROBOT.inverse(None, ZERO, ZERO), 'q'),
    'complex': (lambda: ROBOT.inverse([1j, 0], ZERO, ZERO), 'q'),
    'a column': (lambda: ROBOT.inverse(np.zeros((2, 1)), ZERO, ZERO), 'q'),
    'a mask': (lambda: ROBOT.mass_matrix(np.ma.masked_array(ZERO, [True, False])), 'q'),
    'a wrench': (lambda: ROBOT.inverse(ZERO, ZERO, ZERO, WRENCH), 'external'),
    'one state': (lambda: ROBOT.inverse.batch(ZERO, ZERO, ZERO), 'q'),
    'a name of axes': (lambda: ROBOT.frames.jacobian(ZERO, 'tool0', 'WORLD'), 'axes'),
    'a list as out': (lambda: ROBOT.inverse(ZERO, ZERO, ZERO, out=[0, 0]), 'out'),
    'a text of names': (lambda: ROBOT.hybrid(ZERO, ZERO, 'elbow', ZERO, ZERO), 'prescribed')}

UNKNOWN = {  # unknown names, and the nearest
    'joint': (lambda: MODEL.joint('elbw'), 'elbow'),
    'body': (lambda: MODEL.body('tool'), 'tool0'),
    'frame': (lambda: MODEL.frame_index('tol0'), 'tool0'),
    'frame on': (lambda: MODEL.with_frame('tcp', 'tool'), 'tool0'),
    'pose': (lambda: ROBOT.frames.pose(ZERO, 'tol0'), 'tool0'),
    'case': (lambda: require_known(
        LiedynError, 'foot', ['RR_foot', 'FR_foot', 'FL_foot'], ['fl_foot']), 'FL_foot'),
    'reach': (lambda: ld.reach(ROBOT, {'tol0': np.eye(4)}), 'tool0'),
    'passive': (lambda: ModelBuilder.of(MODEL).make_passive('shoulder', 'elbw'), 'elbow'),
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


@pytest.mark.parametrize(('call', 'named'), [*OBJECTS.values(), *NUMBERS.values()],
                         ids=[*OBJECTS, *NUMBERS])
def test_a_wrong_object_is_told_as_such(call, named):
    with refused(LiedynError, named):
        call()


@pytest.mark.parametrize(('call', 'nearest'), UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_name_gets_the_nearest(call, nearest):
    with refused(LiedynError, ANY) as caught:
        call()
    assert len(caught.value.names) == 1 and nearest in caught.value.expected
    assert str(caught.value).index(repr(nearest)) < str(caught.value).index('[')  # before all
    assert caught.value.got == caught.value.names[0]


def test_poses_and_inverse_kinematics_name_the_same_frames():
    expected = []
    for call in (lambda: ROBOT.frames.pose(ZERO, 'x'), lambda: ld.reach(ROBOT, {'x': np.eye(4)}),
                 lambda: ROBOT.frames.pose(ZERO, 7), lambda: MODEL.place('x')):
        with refused(LiedynError, ANY) as caught:
            call()
        expected.append(caught.value.expected)
    assert set(expected) == {(*MODEL.frames, *MODEL.joints)}
    for name in expected[0]:
        assert ROBOT.frames.pose(ZERO, name).shape == (4, 4) and MODEL.place(name)


def test_several_joints_are_made_passive_at_once():
    builder = ModelBuilder.of(MODEL)
    builder.make_passive('shoulder', 'elbow')
    assert not builder.build().actuated.any()


def test_an_object_of_another_library_is_no_file():
    with refused(DescriptionError, ANY) as caught:
        ld.load(ROBOT)
    assert caught.value.got is ROBOT and 'Dynamics' in str(caught.value)


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
    ROBOT, ROBOT.inverse, ROBOT.frames, ROBOT.inverse.partial_derivatives,
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
