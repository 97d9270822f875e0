# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Bounded files, numbers as text, and what the YAML and XML readers refuse of a document."""

from collections.abc import Callable
import math
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from hypothesis import given, strategies
import pytest
from support.refusals import ANY, refused

from liedyn_ros.common import xacro_reader, xml_reader, yaml_reader
from liedyn_ros.common.description import is_name, parse_number
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.untrusted_files import read_file
from liedyn_ros.model import load_model, load_urdf


def read_yaml(folder: Path, text: str) -> yaml_reader.Node:
    """Return the root of a text."""
    path = folder / 'x.yaml'
    path.write_text(text, encoding='utf-8')
    return yaml_reader.read(path, 'x')


@given(strategies.floats(allow_nan=False, allow_infinity=False))
def test_every_double_is_read_as_it_is_written(value: float) -> None:
    assert parse_number(repr(value)) == value


@pytest.mark.parametrize(('text', 'value'), [
    ('1', 1.0), ('-1.', -1.0), ('+.5', 0.5), ('1e3', 1000.0), ('1E-3', 1e-3), ('010', 10.0),
    ('0', 0.0), ('-0.0e9', 0.0), ('1' * 308, float('1' * 308))])
def test_decimal_numbers(text: str, value: float) -> None:
    assert parse_number(text) == value


@pytest.mark.parametrize('text', [
    '', ' ', '.', 'e5', '1e', 'nan', 'inf', '-Infinity', '0x10', '1_000', '1,5', '1 2', '--1',
    '1:30', '١', '2' * 309, '1' * 400, '1' * 5000, '1e400', '1e-400', '0.' + '0' * 330 + '1'])
def test_text_that_is_no_double(text: str) -> None:
    assert parse_number(text) is None


def test_names_can_be_shown() -> None:
    assert is_name('left arm') and is_name('左腕')
    for text in ('', ' ', 'a\0b', 'a\nb', '\x1b[2J', '\ud800'):
        assert not is_name(text)


@pytest.mark.parametrize('open_file', [
    read_file, lambda path: yaml_reader.read(path, 'x'), lambda path: xml_reader.read(path, 'x')])
def test_only_regular_files_are_read(tmp_path: Path, open_file: Callable[[Any], Any]) -> None:
    os.mkfifo(tmp_path / 'pipe')
    for path in (tmp_path / 'pipe', tmp_path, Path('/dev/zero')):
        with refused(DescriptionError, ANY, got='a directory, pipe or device'):
            open_file(path)
    with refused(DescriptionError, ANY, got='No such file or directory'):
        open_file(tmp_path / 'none')
    for odd in ('a\0b', '\ud800'):
        with refused(DescriptionError, ANY, expected='a path'):
            open_file(odd)
    for odd in (b'a', 3, None):
        with refused(DescriptionError, ANY, got=odd if odd == 3 else repr(odd)):
            open_file(odd)


def test_files_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / 'x'
    path.write_bytes(b'0123456789')
    assert read_file(path, 10) == b'0123456789'
    path.write_bytes(b'0123456789a')
    with refused(DescriptionError, got='a larger one', expected=10):
        read_file(path, 10)
    with open('/dev/zero', 'rb') as zero, open(path, 'wb') as file:
        file.write(zero.read(10))
        file.truncate(2**40)  # takes no space on the disk
    with refused(DescriptionError, expected=10):
        read_file(path, 10)


@pytest.mark.parametrize(('text', 'message'), [
    ('[' * 3000 + ']' * 3000, 'expected at most 50 nested lists and mappings, got more'),
    ('[' * 100_000, 'expected at most 50 nested lists and mappings, got more at line 1'),
    ('{' * 3000, 'expected each key once and a text, got a list, a mapping or an alias'),
    ('\n'.join(' ' * i + 'a:' for i in range(3000)),
     'expected at most 50 nested lists and mappings'),
    ('- ' * 3000, 'expected at most 50 nested lists and mappings'),
    ('? ' * 3000, 'expected each key once and a text'),
    ('a: [1', 'expected YAML, got'), ('a: "\\ud800"', 'expected YAML, got'),
    ('a: \0', 'expected YAML'), ('%YAML 9.9\n--- 1', 'expected YAML, got'),
    ('&a [*a]', 'an alias of a value before it, got *a'),
    ('!!python/object/apply:os.system [ls]', 'expected a value without a tag'),
    ('1: 2', 'expected each key once and a text, got 1 at line 1, column 1'),
    ('true: 2', 'expected each key once and a text, got True'),
    ('a: 1\na: 2', "a text, got 'a' at line 2"),
])
def test_documents_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        read_yaml(tmp_path, text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize('place', ['last: *a25', '*a25 : last', '? [*a25]\n: last'])
def test_an_alias_bomb_is_counted(tmp_path: Path, place: str) -> None:
    lines = ['a0: &a0 [x, x]', *(f'a{i}: &a{i} [*a{i - 1}, *a{i - 1}]' for i in range(1, 26))]
    with refused(DescriptionError, expected=1000000):
        read_yaml(tmp_path, '\n'.join([*lines, place]))
    with refused(DescriptionError, expected='each key once and a text'):
        read_yaml(tmp_path, 'a: &a [x]\n*a : 1')


def test_plain_values(tmp_path: Path) -> None:
    assert read_yaml(tmp_path, """
        [1, -2, 0, 1.5, 1e3, .5, .inf, -.INF, ~, null, true, False, '', '1', "true", &a x, *a,
         yes, off, 2024-13-45, 010, 0x1F, 0o7, 1_000, =, 12345678901234567890]""").value == [
        1, -2, 0, 1.5, 1000.0, 0.5, math.inf, -math.inf, None, None, True, False, '', '1', 'true',
        'x', 'x', 'yes', 'off', '2024-13-45', '010', '0x1F', '0o7', '1_000', '=',
        12345678901234567890.0]
    assert read_yaml(tmp_path, 'a: 1:30').value == {'a': '1:30'}
    assert math.isnan(read_yaml(tmp_path, '.nan').value)
    assert read_yaml(tmp_path, '').value is None
    assert read_yaml(tmp_path, '{a: {b: [1, {c: 2}]}, d: }').value == {
        'a': {'b': [1, {'c': 2}]}, 'd': None}


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / 'x.yaml'
    path.write_bytes(b'a: \xff')
    with refused(DescriptionError, expected=8):
        yaml_reader.read(path, 'x')


@pytest.mark.parametrize('text', [
    '<!DOCTYPE r [<!ENTITY a "xxxxxxxxxx">' + ''.join(
        f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">'.replace('&a0;', '&a;') for i in range(1, 12))
    + ']><r name="x">&a11;</r>',
    '<!DOCTYPE r [<!ENTITY e SYSTEM "/etc/passwd">]><r>&e;</r>',
    '<!DOCTYPE r SYSTEM "x.dtd"><r>&e;</r>', '<!DOCTYPE r SYSTEM "x.dtd"><r name="x&e;"/>',
    '<!DOCTYPE r [<!ENTITY % e SYSTEM "x.dtd"> %e;]><r name="&e;"/>',
    '<a>' * 100_000, '<a b="' + 'x' * 1000, '<a/><b/>', '<a b="1" b="2"/>', '<a>\0</a>', '<a'])
def test_xml_that_is_refused(text: str) -> None:
    with refused(DescriptionError, 'XML text'):
        xml_reader.read(text, 'XML')


def test_a_document_type_of_another_file_is_no_fault_where_nothing_asks_for_it() -> None:
    root = xml_reader.read('<!DOCTYPE r SYSTEM "x.dtd" [<!ENTITY a "b">]>'
                           '<!-- &c; --><r name="&a;&amp;&#99;"/>', 'XML')
    assert root.text('name') == 'b&c'


def test_prefixes_are_declared_where_the_text_of_a_file_is_written_anew(tmp_path: Path) -> None:
    """All but xml, which no document may declare as another's."""
    path = tmp_path / 'r.urdf'
    path.write_bytes(b'<?xml version="1.0" encoding="latin-1"?><r xml:base="\xe9"><a:x/></r>')
    root = ElementTree.fromstring(xml_reader.text_of(path))
    assert [each.tag for each in root] == ['{a}x']


def test_nesting_of_xml_does_not_recur() -> None:
    assert xml_reader.read('<a>' * 200_000 + '</a>' * 200_000, 'XML').value.tag == 'a'


def test_a_long_value_is_short_in_a_message(tmp_path: Path) -> None:
    node = read_yaml(tmp_path, f'a: {"x" * 9999}\n{"y" * 999}: 1')  # a longer key is no YAML
    for use in (node.take('a').number, node.finish, lambda: node.take('b')):
        with pytest.raises(DescriptionError) as caught:
            use()
        assert len(str(caught.value)) < 300


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
