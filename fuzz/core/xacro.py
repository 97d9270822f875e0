# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Model files in the form xacro."""

from collections.abc import Iterator

from fuzz.core.models import use
from fuzz.target import as_file, Run, Target

from liedyn_ros.common import xacro_reader
from liedyn_ros.model import load_model

START = b'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


def make() -> Run:
    """Return what loads a file; its expansion has less time and memory than usual."""
    xacro_reader.LIMITS = xacro_reader.Limits(processor_time=1, time=8, memory=2**28)
    return as_file('.xacro', lambda path: use(load_model(path)))


def seeds() -> Iterator[bytes]:
    """Return files with arguments, properties, macros and conditions."""
    yield START + (b'<xacro:arg name="n" default="2"/><xacro:property name="m" value="${2*pi}"/>'
                   b'<xacro:macro name="l" params="k"><link name="a${k}"/></xacro:macro>'
                   b'<xacro:l k="$(arg n)"/></robot>')
    yield START + (b'<xacro:if value="${1 &lt; 2}"><link name="a"/></xacro:if>'
                   b'<xacro:unless value="1"><link name="b"/></xacro:unless></robot>')


TARGET = Target(make, seeds)
