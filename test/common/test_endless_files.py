# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Files that would take time or memory without end are refused by name."""

import os
from pathlib import Path

import pytest
from support.refusals import ANY, refused

from liedyn_ros.common import xacro_reader, xml_reader, yaml_reader
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.model import load_model, load_urdf

ROBOT = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{}<link name="a"/></robot>'
MANY = ''.join(f'<xacro:macro name="m{i}">{f"<xacro:m{i + 1}/>" * 10}</xacro:macro>'
               for i in range(10)) + '<xacro:macro name="m10"/><xacro:m0/>'
BOMB = '\n'.join(['a0: &a0 [x]', *(
    f'a{i}: &a{i} [{", ".join([f"*a{i - 1}"] * 10)}]' for i in range(1, 12))])
PROCESSOR, MEMORY = {1}, {256}  # s, MB
REGULAR = {'a file that xacro expands'}
ENDLESS = {
    'an included pipe': ('<xacro:include filename="{}/pipe"/>', REGULAR),
    'a pipe as YAML': ('<a b="${{xacro.load_yaml(\'{}/pipe\')}}"/>', REGULAR),
    'an included device': ('<xacro:include filename="/dev/zero"/>', REGULAR),
    'a power': ('<a b="${{9**9**9}}"/>', PROCESSOR),
    'nested macros': (MANY, PROCESSOR),
    'a comprehension': ('<a b="${{[10**6 * [x] for x in python.range(10**12)]}}"/>', MEMORY),
    'an alias bomb': ('<a b="${{xacro.load_yaml(\'{}/bomb.yaml\')}}"/>', PROCESSOR | MEMORY)}
ALIKE = 'a pipe as YAML', 'an included device', 'nested macros'  # to others, in the core


@pytest.mark.parametrize('name', [
    pytest.param(name, marks=[pytest.mark.full] if name in ALIKE else []) for name in ENDLESS])
def test_an_endless_expansion_is_refused(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    pytest.importorskip('xacro')
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'bomb.yaml').write_text(BOMB)
    content, bounds = ENDLESS[name]
    # One second where the processor's time is what is bounded: elsewhere a slow one needs more.
    given = {'processor_time': 1} if bounds & PROCESSOR else {}
    monkeypatch.setattr(xacro_reader, 'XACRO_LIMITS', xacro_reader.XACRO_LIMITS._replace(
        time=1800, memory=2**28, **given))
    path = tmp_path / 'robot.xacro'
    path.write_text(ROBOT.format(content.format(tmp_path)))
    with refused(DescriptionError, str(path)) as caught:
        load_model(path)
    assert caught.value.expected in bounds


def test_an_expansion_that_waits_is_refused(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip('xacro')
    monkeypatch.setattr(xacro_reader, 'XACRO_LIMITS', xacro_reader.XACRO_LIMITS._replace(time=1))
    path = tmp_path / 'robot.xacro'
    path.write_text(ROBOT.format(MANY))
    with refused(DescriptionError, ANY, expected=1):
        load_model(path)


def test_the_text_of_an_expansion_is_bounded(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip('xacro')
    path = tmp_path / 'robot.xacro'
    path.write_text(ROBOT.format('<a b="${20000000 * \'x\'}"/>'))
    with refused(DescriptionError, ANY, expected=16777216):
        load_model(path)


@pytest.mark.parametrize('content', ['<a/>', '<a b="1" c="2"/>', '<a>'])
def test_elements_of_xml_are_bounded(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    monkeypatch.setattr(xml_reader, 'MAX_NODES', 1000)
    path = tmp_path / 'robot.urdf'
    path.write_text(f'<robot name="r">{content * 1000}</robot')  # its end is not reached
    for source in (path, path.read_text()):
        with refused(DescriptionError, ANY, expected=1000):
            load_urdf(source)


@pytest.mark.parametrize('line', ['k{}: 1', 'k{}: [1, 2, 3]', 'k{}: {{a: 1}}'])
def test_values_of_yaml_are_bounded_before_they_are_kept(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.setattr(yaml_reader, 'MAX_YAML_VALUES', 1000)
    path = tmp_path / 'robot.yaml'
    path.write_text('\n'.join(line.format(i) for i in range(1000)) + '\n[')  # no YAML at its end
    with refused(DescriptionError, str(path), expected=1000):
        load_model(path)
