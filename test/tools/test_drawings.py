# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The drawings of the documents are those that their tool makes, and pages show them."""

from pathlib import Path
import re

import pytest
from tools.pictures.drawings import BOXES, DRAWINGS, FOLDER, write

from liedyn_ros.common.resources import config_file
from liedyn_ros.model.parts.joints import JOINT_TYPES
from liedyn_ros.stewart import load_geometry

pytestmark = pytest.mark.full

TEXT = re.compile(r'<text[^>]*>([^<]*)</text>')


def words_of(path):
    return sorted(TEXT.findall(path.read_text(encoding='utf-8')))


@pytest.fixture(scope='module')
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp('drawings')
    write(folder)
    return folder


@pytest.mark.parametrize('name', DRAWINGS)
def test_a_drawing_is_the_one_that_is_drawn_today(drawn, name):
    assert words_of(FOLDER / f'{name}.svg') == words_of(drawn / f'{name}.svg') != []


@pytest.mark.parametrize('name', DRAWINGS)
def test_a_page_shows_each_drawing(name):
    pages = FOLDER.parents[1].rglob('*.md')
    assert any(f'images/drawings/{name}.svg' in page.read_text(encoding='utf-8')
               for page in pages)


def test_they_name_what_the_package_has(drawn):
    assert set(load_geometry(config_file('stewart_geometry.yaml')).leg_names) <= set(
        words_of(drawn / 'platform_frames.svg'))
    assert set(JOINT_TYPES) <= set(words_of(drawn / 'joint_types.svg'))


@pytest.mark.parametrize('node', [name for name in BOXES if re.fullmatch('[a-z]+_[a-z_]+', name)])
def test_the_nodes_of_the_data_flow_exist(node):
    assert (Path(__file__).parents[2] / 'docs' / 'nodes' / f'{node}.md').is_file()
