# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Spoilt model files: texts of URDF, MJCF and YAML with faults, and what readers say."""

from collections.abc import Callable, Iterator
from pathlib import Path
import re
import warnings

import numpy as np

from liedyn_ros.common.errors import DescriptionWarning, LiedynError
from liedyn_ros.common.resources import config_file
from liedyn_ros.model import load_model, load_urdf

INERTIA = '<inertia ixx="1" ixy="0.1" ixz="0" iyy="1.5" iyz="0" izz="2"/>'
URDF = '<?xml version="1.0"?>\n<robot name="all">\n' + '\n'.join(
    f'<link name="l{i}"><inertial><origin xyz="0.1 0 {i}" rpy="0 0.2 0"/><mass value="{i + 1}"/>'
    f'{INERTIA}</inertial></link>' for i in range(7)) + '\n' + '\n'.join(
    f'<joint name="j{i}" type="{kind}"><parent link="l{i // 2}"/><child link="l{i + 1}"/>'
    f'<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>{axis}{more}</joint>'
    for i, (kind, axis, more) in enumerate((
        ('revolute', '<axis xyz="0 0 1"/>', '<limit lower="-1" upper="1" velocity="2" effort="3"/>'
         '<dynamics damping="0.1" friction="0.2"/>'),
        ('prismatic', '<axis xyz="1 0 0"/>', '<limit lower="0" upper="1" velocity="2" effort="3"/>'
         '<mimic joint="j0" multiplier="-2" offset="0.1"/>'),
        ('continuous', '<axis xyz="0 1 0"/>', '<limit velocity="2" effort="3"/>'),
        ('fixed', '', ''), ('floating', '', ''), ('planar', '<axis xyz="0 1 1"/>', '')))
) + '\n<virtual_joint name="v" type="floating" parent_frame="world" child_link="l0"/>\n</robot>\n'
MJCF = """<mujoco model="m">
<compiler angle="radian" eulerseq="zyx" settotalmass="3" inertiagrouprange="0 4"/>
<option gravity="0 0 -9"/>
<default><joint damping="1" armature=".1"/>
<default class="c"><geom size=".1" density="7"/></default></default>
<asset><mesh name="mesh" vertex="0 0 0 1 0 0 0 2 0 0 0 3" face="0 2 1 0 3 2 0 1 3 1 2 3"
inertia="exact" scale="1 1 2" refpos="1 2 3" refquat="1 2 3 4"/></asset>
<worldbody>
<body name="base" pos="1 2 3" euler="1 2 3" childclass="c"><freejoint name="root"/><geom/>
<frame pos="1 2 3" zaxis="1 2 2"><site name="s" pos="1 0 0"/>
<body name="a" axisangle="1 1 0 2"><joint name="x" type="slide" axis="1 0 0" range="0 1"/>
<joint name="y" pos="0 0 .2" ref=".4" frictionloss=".1" stiffness="3"
springref=".2"/><geom type="mesh" mesh="mesh"/>
<body name="b" quat="1 0 0 2" pos="1 0 0"><joint name="z" type="ball" pos="0 1 0"/>
<inertial pos="1 0 0" mass="3" fullinertia="1 2 2 .1 .2 .3"/></body></body></frame>
<body name="d" xyaxes="1 1 0 0 0 1"><joint name="w" axis="1 2 3"/>
<geom type="capsule" size=".2" fromto="1 2 3 2 2 5" mass="3"/><site name="t"/></body></body>
</worldbody>
<equality><connect body1="a" body2="d" anchor="0 0 0"/><weld site1="s" site2="t"/>
<joint joint1="x" joint2="w" polycoef="0 2 0 0 0"/><tendon tendon1="u"/></equality>
<tendon><fixed name="u"><joint joint="x" coef="1"/><joint joint="y" coef="-2"/></fixed></tendon>
<actuator><motor joint="x"/></actuator>
</mujoco>
"""

NUMBERS = (
    '0', '-1', '1e308', '-1e308', '1e-308', '1e400', '1e-400', '1e200', '1e-200', 'nan', 'inf',
    '-inf', '.inf', '.nan', '010', '0x10', '1_0', '1:30', '1,5', '1 2', '', ' ', 'true', 'null',
    '~', '5e-324', '9' * 400, '9' * 5000, '1.' + '0' * 5000, '2024-13-45', '\u0663', '--1', '1e',
    '${a}', "'1'")
TEXTS = (
    '', ' ', 'a', 'l0', 'j0', 'base', 'null', '\0', '\x07', '\u202e', 'x' * 10_000, '"', "'", '<',
    '>', '&', '&a;', '&#0;', '&#55296;', '<!--', ']]>', '<![CDATA[', '<?x?>', '<xacro:if/>', '{',
    '}', '[', ']', '[' * 3000, '{' * 3000, '- ' * 3000, '? ', ': ', '#', '*a', '&a ', '!!float ',
    '!!binary ', '<<: ', '---\n', '...\n', '%YAML 1.1\n', '|\n', '>\n', '\t', '\r', '\n', '\ufeff',
    '@', '`', '\\')
_NUMBER = re.compile(r'-?\d+\.?\d*(?:e-?\d+)?')
_WORD = re.compile(r'[A-Za-z_]\w*')


def spoil(rng: np.random.Generator, text: str) -> str:
    """Return a text with one to three faults in it."""
    for _ in range(rng.integers(1, 4)):
        text = _FAULTS[rng.integers(len(_FAULTS))](rng, text)
    return text


def _replace(pattern: re.Pattern[str], choices: tuple[str, ...]
             ) -> Callable[[np.random.Generator, str], str]:
    def fault(rng: np.random.Generator, text: str) -> str:
        found = list(pattern.finditer(text))
        if not found:
            return text
        match = found[rng.integers(len(found))]
        word = found[rng.integers(len(found))].group()
        other = choices[rng.integers(len(choices))] if rng.random() < 0.8 else word
        return text[:match.start()] + other + text[match.end():]
    return fault


def _span(rng: np.random.Generator, text: str) -> tuple[int, int]:
    start = int(rng.integers(len(text) + 1))
    return start, min(len(text), start + int(rng.geometric(0.02)))


def _cut(rng: np.random.Generator, text: str) -> str:
    start, stop = _span(rng, text)
    return text[:start] + text[stop:]


def _repeat(rng: np.random.Generator, text: str) -> str:
    (start, stop), (at, _) = _span(rng, text), _span(rng, text)
    return text[:at] + text[start:stop] + text[at:]


def _insert(rng: np.random.Generator, text: str) -> str:
    at = int(rng.integers(len(text) + 1))
    return text[:at] + TEXTS[rng.integers(len(TEXTS))] + text[at:]


def _lines(rng: np.random.Generator, text: str) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return text
    i, j = rng.integers(len(lines), size=2)
    lines[i], lines[j] = lines[j], (lines[i] if rng.random() < 0.5 else lines[j])
    return ''.join(lines)


def _truncate(rng: np.random.Generator, text: str) -> str:
    return text[:int(rng.integers(len(text) + 1))]


_FAULTS = (_replace(_NUMBER, NUMBERS), _replace(_NUMBER, NUMBERS), _replace(_WORD, TEXTS),
           _replace(_WORD, NUMBERS), _cut, _repeat, _insert, _lines, _truncate)


def cases(urdfs: int, yamls: int, seed: int) -> Iterator[tuple[str, str]]:
    """Return the suffix and text of each file, in an order that mixes both."""
    rng = np.random.default_rng(seed)
    for suffix in map(str, rng.permutation(['urdf'] * urdfs + ['yaml'] * yamls)):
        yield suffix, spoil(rng, source(suffix))


def source(suffix: str) -> str:
    """Return the text that is spoilt: one that the readers take."""
    if suffix == 'urdf':
        return URDF
    return config_file('aerial_manipulator.yaml').read_text(encoding='utf-8')


def read_case(folder: Path, suffix: str, text: str) -> str:
    """Return whether a reader 'loads' or 'refused' a text; any other error passes."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')  # of numpy, too: what overflows must be refused
        warnings.simplefilter('ignore', DescriptionWarning)
        try:
            if suffix == 'urdf' and text.lstrip().startswith('<'):
                load_urdf(text)
            else:
                load_model(write(folder, suffix, text))
        except LiedynError:
            return 'refused'
    return 'loads'


def write(folder: Path, suffix: str, text: str) -> Path:
    """Write a text to the one file of its suffix."""
    path = folder / f'spoilt.{suffix}'
    path.write_bytes(text.encode('utf-8', 'surrogatepass'))
    return path
