# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Spoilt MJCF by the hundred: each loads or is refused with the package's own error."""

import warnings

import numpy as np
from tools import mutation_cases

from liedyn_ros.common.errors import DescriptionWarning, LiedynError
from liedyn_ros.model import load_mjcf

TEXT = """<mujoco model="m">
<compiler angle="radian" eulerseq="zyx" settotalmass="3" inertiagrouprange="0 4"/>
<option gravity="0 0 -9"/>
<default><joint damping="1"/><default class="c"><geom size=".1" density="7"/></default></default>
<asset><mesh name="mesh" vertex="0 0 0 1 0 0 0 2 0 0 0 3" face="0 2 1 0 3 2 0 1 3 1 2 3"
inertia="exact" scale="1 1 2" refpos="1 2 3" refquat="1 2 3 4"/></asset>
<worldbody>
<body name="base" pos="1 2 3" euler="1 2 3" childclass="c"><freejoint name="root"/><geom/>
<frame pos="1 2 3" zaxis="1 2 2"><site name="s" pos="1 0 0"/>
<body name="a" axisangle="1 1 0 2"><joint name="x" type="slide" axis="1 0 0" range="0 1"/>
<joint name="y" pos="0 0 .2" ref=".4" frictionloss=".1"/><geom type="mesh" mesh="mesh"/>
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


def outcome(text: str) -> str:
    """Return whether a text loads or is refused; any other error passes."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')  # of numpy, too: what overflows must be refused
        warnings.simplefilter('ignore', DescriptionWarning)
        try:
            load_mjcf(text if text.lstrip().startswith('<') else f'<{text}')
        except LiedynError:
            return 'refused'
    return 'loads'


def test_spoilt_texts_load_or_are_refused() -> None:
    assert outcome(TEXT) == 'loads'
    rng = np.random.default_rng(11)
    outcomes = [outcome(mutation_cases.spoil(rng, TEXT)) for _ in range(400)]
    assert outcomes.count('loads') > 10
    assert outcomes.count('refused') > 200
