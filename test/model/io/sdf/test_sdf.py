# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""SDF: machines written with frames of any kind, closed loops, and files that are refused."""

import warnings

import numpy as np
import pytest
from support.machines.random_models import random_model, random_pose
from support.refusals import ANY, refused

import liedyn_ros as ld
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import DescriptionError, DescriptionWarning
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.lie import so3
from liedyn_ros.model import load_model, load_sdf, Model, SpatialInertia
from liedyn_ros.model.parts.geometry import pose

TYPES = {'revolute': 'revolute', 'continuous': 'continuous', 'prismatic': 'prismatic',
         'fixed': 'fixed', 'spherical': 'ball', 'universal': 'universal', 'helical': 'screw'}


def pose_element(at: Array, relative_to: str = '') -> str:
    """Return a pose (4, 4) as SDF has it, exact to rounding."""
    quaternion = ' '.join(f'{x:.17g}' for x in so3.to_quaternion(at[:3, :3]))
    where = ' '.join(f'{x:.17g}' for x in at[:3, 3])
    relative = f' relative_to="{relative_to}"' if relative_to else ''
    return f'<pose rotation_format="quat_xyzw"{relative}>{where} {quaternion}</pose>'


def inertial(body: SpatialInertia, offset: Array) -> str:
    """Return the mass properties in a link whose frame has an offset (4, 4) in the body."""
    center = np.eye(4)
    center[:3, 3] = body.center_of_mass
    at = np.linalg.inv(offset) @ center
    tags = ''.join(
        f'<i{x}{y}>{body.inertia_about_com["xyz".index(x), "xyz".index(y)]:.17g}</i{x}{y}>'
        for x, y in ('xx', 'xy', 'xz', 'yy', 'yz', 'zz'))
    return (f'<inertial>{pose_element(at)}<mass>{body.mass:.17g}</mass>'
            f'<inertia>{tags}</inertia></inertial>')


def as_sdf(model: Model, seed: int) -> str:
    """Return an SDF of a model; its link frames are beside the joints, axes in the model's."""
    rng, poses = np.random.default_rng(seed), Dynamics(model).frames.poses(model.neutral())
    offsets = [random_pose(rng) if joint.type_name != 'fixed' else np.eye(4)
               for joint in model.joint_list]
    parts = []
    for body, at, offset in zip(model.body_list, poses, offsets):
        parts.append(f'<link name="{body.name}">{pose_element(at @ offset)}'
                     f'{inertial(body.inertia, offset)}</link>')
        back = np.linalg.inv(offset)
        parts.append(f'<frame name="{body.name}_at" attached_to="{body.name}">'
                     f'{pose_element(back)}</frame>')
    for joint, at in zip(model.joint_list, poses):
        kind = TYPES[joint.type_name]
        axes = ''
        if kind not in ('fixed', 'ball'):
            directions = [joint.axis, joint.second_axis][:2 if kind == 'universal' else 1]
            for i, direction in enumerate(directions):
                tag, limits = ('axis', 'axis2')[i], joint.limits
                xyz = ' '.join(f'{x:.17g}' for x in at[:3, :3] @ direction)
                bounds = ''.join(f'<{name}>{getattr(limits, name)[i]}</{name}>' for name in (
                    'lower', 'upper', 'velocity', 'effort'))
                axes += (f'<{tag}><xyz expressed_in="__model__">{xyz}</xyz>'
                         f'<limit>{bounds}</limit><dynamics><damping>{joint.damping[i]}</damping>'
                         f'<friction>{joint.friction[i]}</friction></dynamics></{tag}>')
        if kind == 'screw':
            axes += f'<screw_thread_pitch>{2.0 * np.pi * joint.pitch:.17g}</screw_thread_pitch>'
        place = pose_element(np.eye(4), f'{joint.child}_at')
        parts.append(
            f'<joint name="{joint.name}" type="{kind}">{place}<parent>{joint.parent or "world"}'
            f'</parent><child>{joint.child}</child>{axes}</joint>')
    gravity = ' '.join(f'{x:.17g}' for x in model.gravity)
    return (f'<sdf version="1.11"><world name="w"><gravity>{gravity}</gravity>'
            f'<model name="m">{"".join(parts)}</model></world></sdf>')


@pytest.mark.parametrize('seed', [1, 2])
def test_machines_in_frames_of_any_kind_are_the_same(seed: int) -> None:
    model = random_model(seed, 9, False, tuple(TYPES))
    found = load_sdf(as_sdf(model, seed))
    assert found.nv == model.nv and found.warnings == ()
    rng = np.random.default_rng(seed)
    one, other = (Dynamics(each, dissipation=False) for each in (model, found))
    q, v, a = model.random(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    assert np.allclose(one.inverse(q, v, a), other.inverse(q, v, a), rtol=1e-9, atol=1e-9)
    assert np.allclose(one.mass_matrix(q), other.mass_matrix(q), atol=1e-10)
    for joint in model.joint_list:
        same = found.joint(joint.name)
        if joint.type_name != 'spherical':  # a ball has neither in SDF
            assert np.allclose(joint.damping, same.damping)
            assert np.allclose(joint.friction, same.friction)
            for name in ('lower', 'upper', 'velocity', 'effort'):
                assert np.allclose(getattr(joint.limits, name), getattr(same.limits, name))


def test_a_link_that_two_joints_hold_closes_a_loop() -> None:
    # A parallelogram, drawn where it is closed: two cranks of 0.3 m on a rod of 0.5 m.
    upright = '0 -1.5707963267948966 0'
    body = '<inertial><mass>1</mass><inertia><ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia>'
    links = ''.join(f'<link name="{name}"><pose>{at}</pose>{body}</inertial></link>'
                    for name, at in (('left', f'0 0 0 {upright}'), ('right', f'.5 0 0 {upright}'),
                                     ('rod', '0 0 .3 0 0 0')))
    joints = ''.join(
        f'<joint name="{name}" type="revolute"><pose relative_to="{at}">{place}</pose>'
        f'<parent>{parent}</parent><child>{child}</child><axis><xyz>0 1 0</xyz>{more}</axis>'
        '<drake:rotor_inertia>.2</drake:rotor_inertia></joint>'
        for name, at, place, parent, child, more in (
            ('a', 'left', '0 0 0 0 0 0', 'world', 'left', ''),
            ('b', 'right', '0 0 0 0 0 0', 'world', 'right', ''),
            ('c', 'rod', '0 0 0 0 0 0', 'left', 'rod', ''),
            ('d', 'rod', '.5 0 0 0 0 0', 'right', 'rod', '<limit><lower>-1</lower></limit>')))
    with pytest.warns(DescriptionWarning, match="'d'.*'limit', 'drake:rotor_in"):
        model = load_sdf('<sdf version="1.7" xmlns:drake="http://drake.mit.edu"><model name="m">'
                         f'{links}{joints}</model></sdf>')
    dynamics = ConstrainedDynamics(model)
    assert [c.type_name for c in model.closures] == ['revolute']
    assert np.abs(dynamics.residual(model.neutral())).max() < 1e-9
    assert dynamics.mobility.degrees_of_freedom == 1
    q = assemble(dynamics, held={'a': 0.4})
    assert np.allclose(dynamics.frames.pose(q, 'rod')[:3, :3], np.eye(3), atol=1e-7)


@pytest.mark.parametrize(('kind', 'axes', 'back'), [
    ('fixed', (), ()), ('revolute', ('0 1 0',), ('0 -1 0',)),
    ('prismatic', ('0 1 1',), ('0 -1 -1',)), ('screw', ('0 0 1',), ('0 0 -1',)),
    ('universal', ('1 0 0', '0 1 0'), ('0 -1 0', '-1 0 0'))])
def test_a_joint_that_leads_back_to_the_ground_is_read_backwards(kind, axes, back) -> None:
    # The child of j stands on the ground already, and nothing else holds its parent.
    def text(parent: str, child: str, along: tuple[str, ...], damping: tuple[float, ...]) -> str:
        def axis(name: str, xyz: str, value: float) -> str:
            return (f'<{name}><xyz>{xyz}</xyz><dynamics><damping>{value}</damping></dynamics>'
                    f'</{name}>')

        links = ''.join(
            f'<link name="{name}"><pose>{at}</pose><inertial><pose>.1 .2 0 0 0 0</pose><mass>2'
            '</mass><inertia><ixx>.3</ixx><iyy>.4</iyy><izz>.5</izz></inertia></inertial></link>'
            for name, at in (('a', '1 0 0 .2 0 0'), ('b', '2 0 1 0 .3 0'), ('c', '2 1 1 0 0 1')))
        joint = ('<joint name="{}" type="{}"><pose relative_to="b">0 .1 0 0 0 .5</pose><parent>{}'
                 '</parent><child>{}</child>{}</joint>')
        own = ''.join(map(axis, ('axis', 'axis2'), along, damping))
        return ('<sdf version="1.9"><model name="m">' + links
                + joint.format('w', 'revolute', 'world', 'a', axis('axis', '0 0 1', 0.0))
                + joint.format('j', kind, parent, child, own)
                + joint.format('k', 'revolute', 'b', 'c', axis('axis', '1 0 0', 0.0))
                + '</model></sdf>')

    found = load_sdf(text('b', 'a', axes, (0.1, 0.2)))
    wanted = load_sdf(text('a', 'b', back, (0.1, 0.2)[:len(axes)][::-1]))
    assert not found.closures and not found.warnings
    assert found.coordinate_names == wanted.coordinate_names
    rng = np.random.default_rng(1)
    q, v, a = wanted.random(rng), rng.normal(size=wanted.nv), rng.normal(size=wanted.nv)
    one, other = Dynamics(found), Dynamics(wanted)
    np.testing.assert_allclose(one.inverse(q, v, a), other.inverse(q, v, a), rtol=1e-12)
    np.testing.assert_allclose(one.mass_matrix(q), other.mass_matrix(q), rtol=1e-12, atol=1e-14)


def test_what_floats_and_what_is_not_read_is_told() -> None:
    text = ('<sdf version="1.6"><model name="m">{}<link name="a"><gravity>false</gravity>'
            '<velocity_decay><linear>0.1</linear></velocity_decay></link></model></sdf>')
    with pytest.warns(DescriptionWarning) as seen:
        assert load_sdf(text.format('')).nv == 6
    told = ' '.join(str(each.message) for each in seen)
    assert all(word in told for word in (
        '1 kg and 1 kg m^2', 'gravity', 'gravity acts on all links', 'decay'))
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        assert load_sdf(text.format('<static>1</static>')).nv == 0
        assert ld.load(text.format(''), floating=True).model.nv == 6


def test_mimic_joints_are_couplings(tmp_path) -> None:
    text = ('<sdf version="1.11"><model name="m"><static>true</static><link name="a"/>'
            '<link name="b"/><link name="c"/>'
            '<joint name="one" type="revolute"><parent>a</parent><child>b</child><axis/></joint>'
            '<joint name="two" type="revolute"><parent>a</parent><child>c</child><axis>'
            '<mimic joint="one"><multiplier>2</multiplier><offset>0.5</offset>'
            '<reference>0.1</reference></mimic></axis></joint></model></sdf>')
    path = tmp_path / 'm.sdf'
    path.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        model = load_model(path)
    (coupling,) = model.couplings
    assert coupling.terms == (('one', 2.0),) and coupling.offset == pytest.approx(0.3)
    assert model.actuated.tolist() == [True, False]


LINKS = '<link name="a"/><link name="b"/>'
JOINT = '<joint name="j" type="{}"><parent>{}</parent><child>{}</child>{}</joint>'


@pytest.mark.parametrize(('content', 'named', 'got'), [
    ('', 'sdf/model[m]', 'none'),
    ('<link name="a"><pose>1 2 3</pose></link>', 'sdf/model[m]/link[a]', '1 2 3'),
    ('<link name="a"><pose relative_to="x">0 0 0 0 0 0</pose></link>', 'sdf/model[m]', 'x'),
    ('<link name="a"><pose relative_to="b">0 0 0 0 0 0</pose></link>'
     '<link name="b"><pose relative_to="a">0 0 0 0 0 0</pose></link>',
     'sdf/model[m]/link[a]', ANY),
    ('<link name="a"><inertial auto="true"/></link>', 'sdf/model[m]/link[a]', 'none'),
    (LINKS + JOINT.format('gearbox', 'a', 'b', ''), 'sdf/model[m]/joint[j]', 'none'),
    (LINKS + JOINT.format('revolute', 'a', 'b', ''), 'sdf/model[m]/joint[j]', 'none'),
    (LINKS + JOINT.format('fixed', 'a', 'world', ''), 'sdf/model[m]/joint[j]', 'world'),
    (LINKS + JOINT.format('fixed', 'a', 'c', ''), 'sdf/model[m]', 'c')])
def test_wrong_files_are_refused(content: str, named: str, got: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        with refused(DescriptionError, named, got=got):
            load_sdf(f'<sdf version="1.9"><model name="m">{content}</model></sdf>')


def test_a_world_of_two_models_is_refused() -> None:
    with refused(DescriptionError, 'sdf'):
        load_sdf('<sdf version="1.9"><model name="a"/><model name="b"/></sdf>')


def test_a_placement_frame_is_what_the_pose_of_a_model_places() -> None:
    text = ('<sdf version="1.9"><model name="m" placement_frame="b"><pose>0 0 5 0 0 1.5</pose>'
            '<link name="a"/><link name="b"><pose>1 2 0 0 0.3 0</pose></link><joint name="j" '
            'type="fixed"><parent>a</parent><child>b</child></joint></model></sdf>')
    with pytest.warns(DescriptionWarning):
        dynamics = Dynamics(load_sdf(text))
    found = dynamics.frames.pose(dynamics.model.neutral(), 'b')
    assert np.allclose(found, pose((0, 0, 5), (0, 0, 1.5)), atol=1e-12)


@pytest.mark.parametrize('part', [
    '<inertial><pose relative_to="b">1 0 0 0 0 0</pose><mass>1</mass></inertial>',
    '<inertial auto="true"/><collision name="c"><pose relative_to="b">1 0 0 0 0 0</pose>'
    '<geometry><sphere/></geometry></collision>'])
def test_masses_in_the_frame_of_another_link_are_refused(part: str) -> None:
    text = f'<sdf version="1.9"><model name="m"><link name="a">{part}</link><link name="b"/>'
    with refused(DescriptionError, ANY, got='b'):
        load_sdf(f'{text}</model></sdf>')
