# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""import liedyn_ros as ld: the names that most need, from one place."""

import doctest
import inspect
import pickle
import pydoc
import re
import subprocess
import sys

import numpy as np
import pytest
from support import forked
from support.refusals import refused

import liedyn_ros as ld
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.algorithms.forward import Forward
from liedyn_ros.dynamics.algorithms.hybrid import Hybrid
from liedyn_ros.dynamics.algorithms.inverse import Inverse
from liedyn_ros.dynamics.constrained import assemblies
from liedyn_ros.dynamics.frames import Frames
import liedyn_ros.stewart

URDF = """<robot name="arm"><link name="base"/><link name="hand"><inertial><mass value="1"/>
<origin xyz="0.3 0 0"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="hand"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="2"/></joint></robot>"""


@pytest.mark.parametrize('package', [ld, ld.stewart], ids=lambda package: package.__name__)
def test_every_name_is_there_and_completed(package):
    assert sorted(package.__all__) == dir(package)
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert not hasattr(package, 'nothing')


def test_importing_it_imports_nothing_else():
    script = ('import sys, liedyn_ros; print(*(m for m in sys.modules if '
              'm.startswith("liedyn_ros.") or m in ("numba", "numpy")))')
    result = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True,
                            check=True)
    assert result.stdout.split() == ['liedyn_ros.common', 'liedyn_ros.common.on_demand']


def test_what_takes_long_is_imported_where_it_is_used():
    """It would be a third of the time in which dynamics, platforms and nodes are imported."""
    script = ('import sys, liedyn_ros.stewart; '
              'print(*(m for m in sys.modules if m.startswith("liedyn_ros.stewart."))); '
              'print(*(m for m in sys.modules if m.startswith("liedyn_ros.dynamics"))); '
              'from liedyn_ros.stewart import *; import liedyn_ros.dynamics.constrained, '
              'liedyn_ros.dynamics.linearization, liedyn_ros.aerial, liedyn_ros.export; '
              'print(*(m for m in sys.modules if m == "coverage" or '
              'm.startswith("scipy.") and m.count(".") == 1 and not m.startswith("scipy._") '
              'and m != "scipy.version"))')
    result = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True,
                            check=True)
    assert result.stdout.strip() == ''


def test_a_text_a_file_and_a_model_become_dynamics(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(URDF)
    for source in (URDF, path, str(path), ld.load_model(path)):
        robot = ld.load(source)
        assert type(robot) is ld.Dynamics
        assert robot.inverse([0.0], [1.0], [0.0]) == pytest.approx(2.0 - 0.3 * 9.81)
    without = ld.load(path, dissipation=False)
    assert without.inverse([0.0], [1.0], [0.0]) == pytest.approx(-0.3 * 9.81)
    assert ld.load(URDF, floating=True).model.nv == 7
    assert ld.load(URDF, gravity=[0.0, 0.0, 0.0]).gravity_vector([0.0]) == pytest.approx(0.0)


def test_closed_loops_become_constrained_dynamics():
    robot = ld.load(config_file('four_bar.yaml'))
    assert type(robot) is ld.ConstrainedDynamics


def test_a_gripper_changes_no_call():
    arm, four_bar = ld.load(URDF), ld.load(config_file('four_bar.yaml'))
    loop = ld.assemble(four_bar)
    for robot, q in ((arm, [0.2]), (four_bar, loop)):
        rest = np.zeros(robot.model.nv)
        tau = robot.inverse(q, rest, rest)
        assert isinstance(tau, np.ndarray) and tau.shape == rest.shape
        a = robot.forward(q, rest, tau)
        assert np.abs(a).max() < 1e-9
        assert type(a + 1.0) is type(tau[:1]) is np.ndarray
        held = robot.hybrid(q, rest, robot.model.actuated, rest, rest).tau
        for algorithm, found in ((robot.inverse, tau), (robot.forward, a)):
            written = np.empty(robot.model.nv)
            algorithm(q, rest, tau if algorithm == robot.forward else rest, out=written)
            np.testing.assert_array_equal(written, found)
        np.testing.assert_allclose(held[robot.model.actuated], tau[robot.model.actuated])
        many = robot.inverse.batch([q, q], [rest, rest], [rest, rest])
        np.testing.assert_allclose(many, [tau, tau], atol=1e-12)
        orders = np.zeros((3, robot.model.nv))
        for series in (robot.inverse.time_derivatives(q, rest, orders),
                       robot.inverse.time_derivatives_batch([q], [rest], [orders])[0]):
            assert series.shape == orders.shape
            np.testing.assert_allclose(series[0], tau, atol=1e-12)
        driven, many = robot.model.actuated, robot.hybrid.time_derivatives_batch
        for one, each in zip(robot.hybrid.time_derivatives(q, rest, driven, orders, orders), many(
                [q], [rest], driven, [orders], [orders])):
            assert one.shape == orders.shape
            np.testing.assert_array_equal(one, each[0])
        assert robot.mass_matrix(q).shape == (robot.model.nv, robot.model.nv)
        np.testing.assert_allclose(
            robot.bias(q, rest), robot.gravity_vector(q) + robot.spring_forces(q), atol=1e-12)


def test_a_solution_comes_with_the_array():
    robot = ld.load(config_file('four_bar.yaml'))
    q, rest = ld.assemble(robot), np.zeros(robot.model.nv)
    found = robot.inverse(q, rest, rest)
    assert found.tau is found.solution.tau and found.wrenches.shape == (1, 6)
    np.testing.assert_array_equal(found, found.tau)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.multipliers, found.multipliers)
    assert again.status is found.status
    with pytest.raises(AttributeError):
        _ = found.copy().wrenches


@pytest.mark.parametrize(('wrong', 'ours'), [
    (lambda: ld.load_urdf, 'load'), (lambda: ld.rnea, 'load(...).inverse'),
    (lambda: ld.load(URDF).rnea, 'inverse'), (lambda: ld.load(URDF).fkine, 'frames.pose'),
    (lambda: ld.load(URDF).getFrameJacobian, 'frames.jacobian'),
    (lambda: ld.load(URDF).joint_names, 'model.joints'),
    (lambda: ld.load(URDF).model.joint_names, 'joints'),
    (lambda: ld.load(config_file('four_bar.yaml')).rnea, 'inverse'),
    (lambda: ld.load(URDF).frames.names, 'model.frames')])
def test_names_of_other_libraries_lead_to_ours(wrong, ours):
    with pytest.raises(AttributeError) as caught:
        wrong()
    assert str(caught.value).endswith(f'here it is {ours}')
    assert not hasattr(ld.load(URDF), 'nothing')


def test_frames_of_an_arm_are_assembled():
    robot = ld.load(URDF)
    q = ld.assemble(robot, held={'hand': robot.frames.pose([0.4], 'hand')})
    assert q == pytest.approx([0.4])
    assert len(assemblies(robot, attempts=3)) == 3


def test_what_is_no_model_is_refused():
    with refused(ld.LiedynError, 'model', got='arm.urdf'):
        ld.Dynamics('arm.urdf')
    with refused(ld.LiedynError, 'text of robot', got="{'side': 'left'}"):
        ld.load(URDF, arguments={'side': 'left'})
    with refused(ld.LiedynError, got="['floating']"):
        ld.load(ld.load(URDF).model, floating=True)
    with pytest.raises(ld.LiedynError):
        ld.load('no_such_file.urdf')


@pytest.mark.parametrize('kind', [ld.Dynamics, ld.ConstrainedDynamics])
def test_help_lists_what_is_called_most(kind):
    text = pydoc.plain(pydoc.render_doc(kind))
    for name in ('inverse', 'forward', 'hybrid', 'frames'):
        assert re.search(rf'^ \|  {name}\b.*\n \|      Return ', text, re.MULTILINE), name


def test_help_and_objects_can_be_read():
    robot = ld.load(URDF)
    for method in (ld.Dynamics.mass_matrix, type(robot.inverse).__call__, ld.Model.integrate,
                   type(robot.frames).jacobian, ld.ConstrainedDynamics.gaps, ld.PoseSolver.solve):
        assert len(str(inspect.signature(method))) < 400
    assert repr(robot.inverse) == f'<Inverse dynamics of {robot.model!r}>'
    assert repr(robot) == f'<Dynamics of {robot.model!r}, with dissipation>'
    assert repr(robot.frames) == f'<Frames of {robot.model!r}: 2>'
    loop = ld.load(config_file('four_bar.yaml'))
    assert repr(loop).startswith('<ConstrainedDynamics of <Model ')


def test_poses_take_matrices_and_refuse_what_is_none():
    pose = ld.SE3.exp([0.1, 0.2, 0.3, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal((pose @ pose.matrix).matrix, (pose @ pose).matrix)
    turn = ld.SO3.exp([0.1, 0.2, 0.3])
    np.testing.assert_array_equal((turn @ turn.matrix).matrix, (turn @ turn).matrix)
    for group, wrong in ((ld.SE3, np.eye(3)), (ld.SO3, np.eye(4))):
        with refused(ld.LiedynError, 'matrix'):
            group(wrong)
    np.testing.assert_array_equal(ld.SE3(np.eye(4).tolist()).matrix, np.eye(4))
    with pytest.raises(ld.LiedynError):
        pose @ np.eye(3)
    with pytest.raises(ld.LiedynError):
        pose @ (2.0 * np.eye(4))


@pytest.mark.parametrize(('missing', 'module', 'remedy'), [
    ('rclpy', 'liedyn_ros.nodes.dynamics.server', 'source its setup'),
    *(('matplotlib', f'liedyn_ros.{module}', r"pip install 'matplotlib>.*'") for module in (
        'commands.stewart.drawings.assembly_modes', 'commands.stewart.drawings.workspace',
        'demo.__main__', 'studies.stewart_pose.study'))])
def test_what_is_not_installed_is_named_with_its_remedy(missing, module, remedy):
    script = ('import importlib.util as u; found = u.find_spec; '
              f'u.find_spec = lambda n, *r: None if n == "{missing}" else found(n, *r); '
              f'import {module}')
    result = forked.run('-c', script)
    assert re.search(f'ModuleNotFoundError: {missing}: expected .*{remedy}', result.stderr)


@pytest.mark.parametrize('thing', [getattr(ld, name) for name in ld.__all__] + [
    Inverse, Forward, Hybrid, Frames, liedyn_ros.stewart.leg_lengths])
def test_examples_of_docstrings_hold(thing):
    robot, geometry = ld.load(config_file('arm.urdf')), ld.load_geometry(
        config_file('stewart_geometry.yaml'))
    ground = {'ld': ld, 'np': np, 'config_file': config_file, 'robot': robot, 'model': robot.model,
              'q': robot.model.neutral(), 'v': np.full(6, 0.1), 'a': np.full(6, 0.2),
              'linkage': ld.load(config_file('four_bar.yaml')), 'geometry': geometry,
              'home': ld.pose([0.0, 0.0, 0.5]), 'leg_lengths': liedyn_ros.stewart.leg_lengths}
    for test in doctest.DocTestFinder(exclude_empty=True).find(thing, name='thing', globs=ground):
        said = []
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
        assert not said, ''.join(said)
