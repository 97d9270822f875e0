# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Model files in the form of Gazebo's SDFormat."""

from collections.abc import Iterator

from fuzz.core.models import use
from fuzz.target import as_file, Run, Target

from liedyn_ros.model import load_model

BODY = ('<inertial><pose>0 0 0.1 0 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy>'
        '<izz>0.05</izz></inertia></inertial>')
SDF = f"""<?xml version="1.0"?>
<sdf version="1.9"><world name="w"><gravity>0 0 -9.8</gravity><model name="m">
<frame name="mount" attached_to="base"><pose>0 0 0.2 0 0 0.3</pose></frame>
<link name="base">{BODY}</link>
<link name="arm"><pose relative_to="mount">0 0 0.1 0 0.2 0</pose>{BODY}</link>
<link name="slide"><pose relative_to="arm">0.2 0 0 0 0 0</pose>{BODY}</link>
<link name="ball"><pose relative_to="slide" degrees="true">0 0.1 0 0 0 90</pose>{BODY}</link>
<joint name="fix" type="fixed"><parent>world</parent><child>base</child></joint>
<joint name="turn" type="revolute"><parent>base</parent><child>arm</child><axis>
<xyz expressed_in="mount">0 1 0</xyz><limit><lower>-1</lower><upper>1</upper><effort>5</effort>
<velocity>2</velocity></limit><dynamics><damping>0.1</damping><friction>0.2</friction>
<spring_stiffness>3</spring_stiffness><spring_reference>0.1</spring_reference></dynamics></axis>
</joint>
<joint name="push" type="prismatic"><parent>arm</parent><child>slide</child><axis><xyz>1 0 0</xyz>
</axis></joint>
<joint name="point" type="ball"><parent>slide</parent><child>ball</child></joint>
<model name="tool"><link name="tip">{BODY}</link></model>
<joint name="hold" type="fixed"><parent>ball</parent><child>tool::tip</child></joint>
</model></world></sdf>
"""


def make() -> Run:
    """Return what loads a file and computes with its model."""
    return as_file('.sdf', lambda path: use(load_model(path)))


def seeds() -> Iterator[bytes]:
    """Return a file with most of what is read, and a small one."""
    yield SDF.encode()
    yield (f'<sdf version="1.6"><model name="m"><link name="l">{BODY}</link></model></sdf>'
           ).encode()


TARGET = Target(make, seeds)
