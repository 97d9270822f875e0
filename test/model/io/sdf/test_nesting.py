# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""SDF: models in models and included files, beside the same machine in one model."""

from pathlib import Path

import numpy as np
import pytest
from support.comparison import assert_same
from support.refusals import ANY, refused

from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import load_sdf, pose

INERTIA = ('<inertial><pose>0.1 0 0 0 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx>'
           '<iyy>0.2</iyy><izz>0.2</izz></inertia></inertial>')
ARM = f"""<model name="arm" {{}}>
  <link name="base">{INERTIA}</link>
  <link name="tip"><pose relative_to="elbow"/>{INERTIA}</link>
  <joint name="elbow" type="revolute"><pose relative_to="base">0.5 0 0.1 0 0 0.3</pose>
    <parent>base</parent><child>tip</child>
    <axis><xyz expressed_in="__model__">0 1 0</xyz></axis></joint>
  <frame name="tool" attached_to="tip"><pose>0.4 0 0 0 0 0</pose></frame>{{}}</model>"""
OUTER = """<sdf version="1.9"><model name="pair"><static>true</static>
  <link name="bench">{}</link>{}
  <joint name="left" type="fixed"><parent>bench</parent><child>one::base</child></joint>
  <joint name="right" type="revolute"><pose relative_to="__model__">0 2 0 0 0 0</pose>
    <parent>one::tool</parent><child>two::__model__</child><axis/></joint></model></sdf>"""
ONE, TWO = '1 0 0.2 0.4 0 0', '0 2 0 0 0 -0.7'


def named(arm: str, name: str, place: str) -> str:
    """Return the arm under a name and at a place."""
    return arm.format('', f'<pose>{place}</pose>').replace('name="arm"', f'name="{name}"')


@pytest.fixture
def included(tmp_path: Path) -> str:
    """Return two includes of a file in a folder of its own."""
    (tmp_path / 'arm').mkdir()
    (tmp_path / 'arm' / 'model.sdf').write_text(
        f'<sdf version="1.9">{ARM.format("", "<pose>7 7 7 0 0 0</pose>")}</sdf>')
    return ''.join(f'<include><uri>model://arm</uri><name>{name}</name><pose>{place}</pose>'
                   '</include>' for name, place in (('one', ONE), ('two', TWO)))


def test_included_and_nested_models_are_one_machine(tmp_path: Path, included: str) -> None:
    path = tmp_path / 'pair.sdf'
    path.write_text(OUTER.format(INERTIA, included))
    from_files = load_sdf(path)
    nested = load_sdf(OUTER.format(INERTIA, named(ARM, 'one', ONE) + named(ARM, 'two', TWO)))
    assert from_files.bodies == nested.bodies
    assert set(nested.joints) >= {'left', 'right', 'one::elbow', 'two::elbow'}
    q = np.array([0.3, -0.8, 1.1])
    mine, other = Dynamics(from_files), Dynamics(nested)
    assert_same(mine.frames.poses(q), other.frames.poses(q), 1e-15)
    assert_same(mine.mass_matrix(q), other.mass_matrix(q), 1e-15)


def test_places_and_axes_are_those_of_the_drawing() -> None:
    model = load_sdf(OUTER.format(INERTIA, named(ARM, 'one', ONE) + named(ARM, 'two', TWO)))
    frames, rest = Dynamics(model).frames, model.neutral()
    elbow = pose([0.5, 0.0, 0.1], [0.0, 0.0, 0.3])
    for name, place in (('one', ONE), ('two', TWO)):
        numbers = [float(each) for each in place.split()]
        base = pose(numbers[:3], numbers[3:])
        assert_same(frames.pose(rest, f'{name}::base'), base, 1e-14)
        assert_same(frames.pose(rest, f'{name}::tip'), base @ elbow, 1e-14)
        q = np.zeros(model.nq)
        q[model.joint(f'{name}::elbow').qi] = 0.5
        turned = frames.pose(q, f'{name}::tip')[:3, :3]
        about_y = pose(rpy=[0.0, 0.5, 0.0])[:3, :3]
        assert_same(turned, base[:3, :3] @ about_y @ elbow[:3, :3], 1e-14)


def test_a_pose_of_a_model_in_a_model_is_that_of_its_placement_frame(tmp_path: Path) -> None:
    arm = ARM.format('placement_frame="tip"', '<pose>1 2 0 0 0.4 0</pose>')
    (tmp_path / 'arm.sdf').write_text(f'<sdf version="1.9">{ARM.format("", "")}</sdf>')
    include = ('<include><uri>arm.sdf</uri><pose>1 2 0 0 0.4 0</pose><placement_frame>tip'
               '</placement_frame></include>')
    for content in (arm, include):
        path = tmp_path / 'bench.sdf'
        path.write_text('<sdf version="1.9"><model name="m"><link name="a">' + INERTIA + '</link>'
                        f'{content}</model></sdf>')
        frames = Dynamics(model := load_sdf(path)).frames
        assert_same(frames.pose(model.neutral(), 'arm::tip'), pose([1, 2, 0], [0, 0.4, 0]), 1e-14)


def test_a_pose_may_be_in_the_frame_of_a_model_in_the_model() -> None:
    link = f'<link name="a"><pose relative_to="arm{{}}">1 0 0 0 0 0</pose>{INERTIA}</link>'
    one, other = (Dynamics(load_sdf(
        f'<sdf version="1.9"><model name="m">{named(ARM, "arm", ONE)}{link.format(name)}</model>'
        '</sdf>')) for name in ('', '::__model__'))
    rest = one.model.neutral()
    assert_same(one.frames.pose(rest, 'a'), other.frames.pose(rest, 'a'), 0.0)


def test_a_merged_model_keeps_its_names(tmp_path: Path) -> None:
    (tmp_path / 'arm.sdf').write_text(f'<sdf version="1.9">{ARM.format("", "")}</sdf>')
    path = tmp_path / 'bench.sdf'
    path.write_text('<sdf version="1.9"><model name="m"><include merge="true"><uri>arm.sdf</uri>'
                    '<pose>1 2 3 0 0 0</pose></include></model></sdf>')
    model = load_sdf(path, floating=False)
    assert {'base', 'tip'} <= set(model.bodies) and 'elbow' in model.joints
    assert_same(Dynamics(model).frames.pose(model.neutral(), 'base'), pose([1, 2, 3]), 1e-15)


def test_a_world_may_include_its_model(tmp_path: Path) -> None:
    (tmp_path / 'arm.sdf').write_text(f'<sdf version="1.9">{ARM.format("", "")}</sdf>')
    path = tmp_path / 'world.sdf'
    path.write_text('<sdf version="1.9"><world name="w"><gravity>0 0 -3</gravity><include>'
                    '<uri>arm.sdf</uri><pose>0 0 1 0 0 0</pose></include></world></sdf>')
    model = load_sdf(path)
    assert model.nv == 7 and model.gravity.tolist() == [0.0, 0.0, -3.0]


@pytest.mark.parametrize(('content', 'named', 'got'), [
    ('<include/>', 'sdf/model[m]/include', 'none'),
    ('<include><uri>https://fuel.example/arm</uri></include>',
     'sdf/model[m]/include', 'https://fuel.example/arm'),
    ('<include><uri>model://none</uri></include>', 'sdf/model[m]/include', ANY),
    ('<include><uri>itself.sdf</uri></include>', ANY, 'more'),
    ('<model name="n"/>', 'sdf/model[m]/model[n]', 'none'),
    (ARM.format('', '<static>true</static>'), 'sdf/model[m]/model[arm]', 'arm')])
def test_wrong_files_are_refused(tmp_path: Path, content: str, named: str, got: object) -> None:
    path = tmp_path / 'itself.sdf'
    path.write_text(f'<sdf version="1.9"><model name="m"><link name="a"/>{content}</model></sdf>')
    with refused(DescriptionError, named, got=got):
        load_sdf(path)


def test_a_model_stands_in_a_frame_of_its_world() -> None:
    link = '<link name="a"><inertial><mass>1</mass></inertial></link>'
    joint = '<joint name="j" type="fixed"><parent>world</parent><child>a</child></joint>'
    model = load_sdf(
        '<sdf version="1.9"><world name="w"><frame name="f"><pose>0 0 1 1.5 0 0</pose></frame>'
        '<frame name="g" attached_to="f"><pose>0 2 0 0 0 0.5</pose></frame>'
        f'<model name="m"><pose relative_to="g">1 0 0 0 0 0</pose>{link}{joint}</model>'
        '</world></sdf>')
    wanted = pose((0, 0, 1), (1.5, 0, 0)) @ pose((0, 2, 0), (0, 0, 0.5)) @ pose((1, 0, 0))
    np.testing.assert_allclose(model.joint('j').placement, wanted, atol=1e-15)


def test_what_models_in_models_and_includes_have_beyond_is_named(tmp_path: Path) -> None:
    """Only their links, joints, frames and plugins are in the model around them."""
    link = f'<link name="a">{INERTIA}</link>'
    (tmp_path / 'in.sdf').write_text(f'<sdf version="1.99"><model name="in">{link}<enable_wind>1'
                                     '</enable_wind></model></sdf>')
    include = '<include><uri>in.sdf</uri><name>k</name><e:params><m>5</m></e:params></include>'
    nested = f'<model name="n">{link}<drake:linear_bushing_rpy a="1"/></model>'
    path = tmp_path / 'm.sdf'
    for text, named in ((f'<model name="m">{link}{include}{nested}</model>', 'n'), (include, '')):
        path.write_text(f'<sdf version="1.9">{text}</sdf>')
        said = ' '.join(load_sdf(path).warnings)
        for words in ("includes ['k']: e:params", "models ['k']: enable_wind", '1.99', *(
                ("models ['n']: drake:linear_bushing_rpy",) if named else ())):
            assert words in said
