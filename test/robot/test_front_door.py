# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""import liedyn_ros as ld: the names that most need, from one place."""

from dataclasses import fields, is_dataclass
import doctest
from importlib import import_module
import inspect
from pathlib import Path
import pickle
import pydoc
import re
import subprocess
import sys
from typing import get_type_hints

import numpy as np
import pytest
from support import forked
from support.machines.mimic_gripper import GRIPPER
from support.refusals import refused

import liedyn_ros as ld
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import assemblies
from liedyn_ros.lie import se3, so3
import liedyn_ros.stewart

URDF = """<robot name="arm"><link name="base"/><link name="hand"><inertial><mass value="1"/>
<origin xyz="0.3 0 0"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="hand"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="2"/></joint></robot>"""
MODULES = sorted(set(re.findall(r'automodule:: (\S+)', '\n'.join(
    page.read_text() for page in (Path(__file__).parents[2] / 'docs' / 'api').glob('*.md')))))
NEEDED = {'liedyn_ros.model': 'mujoco', 'liedyn_ros.identification': 'clarabel',
          'liedyn_ros.dynamics.constrained': 'clarabel', 'liedyn_ros.recordings.bags': 'rosbags'}


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
    leg = ld.load(config_file('linkage_leg.urdf'), loops=config_file('linkage_leg_loops.yaml'))
    assert leg.mobility.degrees_of_freedom == 2


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
            tau, robot.gravity_vector(q) + robot.spring_forces(q), atol=1e-12)


@pytest.mark.filterwarnings('error')
def test_motors_hold_the_fingers_of_a_gripper():
    robot = ld.load(GRIPPER)  # without a warning, as couplings are kept
    q = ld.assemble(robot, robot.model.neutral())
    rest = np.zeros(robot.model.nv)
    tau, moved = robot.inverse(q, rest, rest), robot.model.actuated
    assert np.abs(tau[~moved]).max() < 1e-12 and robot.tree.gravity_vector(q)[~moved].all()
    np.testing.assert_array_equal(robot.gravity_vector(q), tau)
    assert np.abs(robot.forward(q, rest, tau)).max() < 1e-9


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
    (lambda: ld.load(URDF).frames.names, 'model.frames'),
    (lambda: ld.computeABADerivatives, 'load(...).forward.partial_derivatives'),
    (lambda: ld.load(URDF).constraintDynamics,
     'Contacts(model, contacts).holding(names, q).forward'),
    (lambda: ld.load(URDF).model.createData, 'not needed: calls return their results'),
    (lambda: ld.JointModelFreeFlyer, 'load(file, floating=True)'),
    (lambda: ld.MomentumObserver, 'MomentumObserver of liedyn_ros.dynamics.constrained'),
    (lambda: ld.TorchFunctions, 'TorchFunctions of liedyn_ros.dynamics.autodiff'),
    (lambda: ld.load(URDF).regressor, 'Regressor(model) of liedyn_ros'),
    (lambda: ld.difference, 'load(...).model.difference'),
    (lambda: ld.load(URDF).model.getFrameId, 'frame_index')])
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


def names_of(module):
    """Return the public objects of a module on a page: __all__, or its definitions."""
    offered = getattr(module, '__all__', None)
    return {name: getattr(module, name) for name in offered} if offered else {
        name: each for name, each in vars(module).items()
        if getattr(each, '__module__', '') == module.__name__ and not name.startswith('_')}


def classes_of(values):
    """Return classes, their bases, and those that their properties return."""
    waiting = [each for each in values if inspect.isclass(each)]
    for each in waiting:
        for name, member in vars(each).items():
            read = not name.startswith('_') and (
                getattr(member, 'fget', None) or getattr(member, 'func', None))
            try:
                found = get_type_hints(read).get('return') if read else None
            except (NameError, TypeError):  # of a type that only a checker imports
                found = None
            waiting += [kind for kind in (found, *each.__mro__) if inspect.isclass(kind)
                        and kind.__module__.startswith('liedyn_ros') and kind not in waiting]
    return waiting


def functions_of(module):
    """Yield name and function of all that is public in a module: functions and methods."""
    offered = names_of(module)
    for name, each in offered.items():
        if inspect.isfunction(each):
            yield name, each
    for kind in classes_of(offered.values()):
        for name, member in vars(kind).items():
            own = getattr(member, '__func__', member)
            member = inspect.unwrap(own)
            if inspect.isfunction(member) and member.__module__.startswith('liedyn_ros') and (
                    not name.startswith('_') or name == '__call__'):
                # Without a text of its own it has that of a base, which its class leads to.
                yield f'{kind.__name__}.{name}', member if member.__doc__ else own


def public_classes(module):
    """Return the classes of a module and those that they lead to, but for the one written in C."""
    return [kind for kind in classes_of(names_of(module).values())
            if kind.__module__ != 'liedyn_ros.jit.calls' and not kind.__name__.startswith('_')]


def fields_of(kind):
    """Return the names of the fields that a dataclass or a NamedTuple adds to its bases."""
    own = inspect.get_annotations(kind)
    names = [each.name for each in fields(kind)] if is_dataclass(kind) else getattr(
        kind, '_fields', ())
    return [name for name in names if name in own and not name.startswith('_')]


def class_lacks(kind):
    """Return the example and the fields that the docstring of a class lacks."""
    text, example, _ = (vars(kind)['__doc__'] or '').partition('>>> ')
    return [*([] if example else ['>>> ']),
            *(name for name in fields_of(kind) if not re.search(rf'\b{name}\b', text))]


def lacks_of(function):
    """Return the sections that the docstring of a public function lacks."""
    text, signature = inspect.getdoc(function) or '', inspect.signature(function)
    wanted = [rf'^    {name}: ' for name, each in signature.parameters.items()
              if name not in ('self', 'cls') and not (  # of which the text names each
                  each.kind is each.VAR_POSITIONAL and 'Args:' in text)]
    if signature.return_annotation not in (None, 'None'):
        wanted.append(r'^(Returns|Yields):$')
    return [each for each in (*wanted, '^>>> ') if not re.search(each, text, re.MULTILINE)]


@pytest.mark.parametrize('module', MODULES)
def test_what_is_public_tells_arguments_results_and_an_example(module):
    """Public are the names in __all__ of the modules on the pages of docs/api."""
    told = dict(functions_of(import_module(module)))
    assert {name: lacks_of(each) for name, each in told.items() if lacks_of(each)} == {}


@pytest.mark.parametrize('module', ['liedyn_ros', *MODULES])
def test_public_classes_tell_their_fields_and_an_example(module):
    """Public are those that __all__ names, their bases, and what their properties return."""
    told = {kind.__name__: class_lacks(kind) for kind in public_classes(import_module(module))}
    assert {name: lacks for name, lacks in told.items() if lacks} == {}


@pytest.mark.parametrize('module', ['liedyn_ros', *(
    pytest.param(each, marks=pytest.mark.full) for each in MODULES)])
def test_examples_of_docstrings_hold(module, tmp_path):
    for prefix, needed in NEEDED.items():
        if module.startswith(prefix):
            pytest.importorskip(needed)
    package, robot = import_module(module), ld.load(config_file('arm.urdf'))
    linkage = ld.load(config_file('four_bar.yaml'))
    ground = {
        'ld': ld, 'np': np, 'se3': se3, 'so3': so3, 'config_file': config_file, 'robot': robot,
        'model': robot.model, 'q': robot.model.neutral(), 'v': np.full(6, 0.1),
        'a': np.full(6, 0.2), 'tau': np.zeros(6), 'linkage': linkage,
        'closed': ld.assemble(linkage), 'rest': np.zeros(linkage.model.nv),
        'geometry': ld.load_geometry(config_file('stewart_geometry.yaml')),
        'home': ld.pose([0.0, 0.0, 0.5]), 'leg_lengths': liedyn_ros.stewart.leg_lengths,
        'folder': tmp_path, 'recorded': tmp_path / 'bag'}
    if module == 'liedyn_ros.recordings.bags':
        from support.recordings.bag_files import as_messages, states, write_bag
        write_bag(ground['recorded'], as_messages('ab', *states('ab', 100)))
    if 'identification' in module:
        ground |= recorded_rod() | seen_arm(robot)
    if module == 'liedyn_ros.stewart.calibration':
        ground |= measured_platform(ground['geometry'], ground['home'])
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner(
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL)
    needs = 0  # examples of what is installed here
    for each in (*(each for _, each in functions_of(package)), *public_classes(package)):
        around = vars(sys.modules[each.__module__]) | names_of(package) | ground
        said = []
        test = parser.get_doctest(inspect.getdoc(each), around, each.__qualname__, None, 0)
        test.examples = [one for one in test.examples if doctest.SKIP not in one.options]
        needs += len(test.examples)
        runner.run(test, out=said.append)
        assert not said, ''.join(said)
    assert runner.tries == needs


def recorded_rod():
    """Return a pendulum and a recording of its motion, exact."""
    builder = ld.ModelBuilder('rod')
    builder.add_body('rod', ld.SpatialInertia(2.0, [0.0, 0.0, -0.5], np.diag([0.2, 0.2, 0.01])))
    builder.add_joint('pivot', 'revolute', None, 'rod', axis=[0.0, 1.0, 0.0])
    rod, t = ld.Dynamics(builder.build()), np.arange(0.0, 10.0, 0.01)
    q, v, a = (
        (slow * np.sin(2.0 * t + k * np.pi / 2) * 2.0 ** k
         + fast * np.sin(5.0 * t + k * np.pi / 2) * 5.0 ** k)[:, None]
        for k, (slow, fast) in enumerate(3 * [(0.8, 0.3)]))
    return {'rod': rod, 'recording': liedyn_ros.identification.Recording(
        rod.model, t, q, rod.inverse.batch(q, v, a))}


def seen_arm(robot):
    """Return readings of an arm, and where a tracker sees its tool."""
    rng = np.random.default_rng(1)
    readings = np.array([robot.model.random(rng) for _ in range(40)])
    return {'readings': readings, 'seen': np.array(
        [robot.frames.pose(q, 'tool')[:3, 3] for q in readings])}


def measured_platform(geometry, home):
    """Return poses of a platform and the readings of its legs there."""
    poses = home @ se3.exp(0.05 * np.random.default_rng(1).normal(size=(40, 6)))
    return {'poses': poses, 'readings': np.array(
        [liedyn_ros.stewart.leg_lengths(geometry, pose) for pose in poses])}
