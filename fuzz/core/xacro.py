# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Model files in the form xacro."""

from collections.abc import Iterator
import json
import resource
import signal
from typing import Any

from fuzz.core.models import use
from fuzz.target import as_file, Run, Target

from liedyn_ros.common import xacro_reader
from liedyn_ros.common.processes import ProcessLimits
from liedyn_ros.model import load_model

ADDRESSES = 2**33  # bytes
START = b'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


def make() -> Run:
    """
    Return a function that loads a file and expands it within a second, in this process.

    An address space that is bounded stands for the memory of that process.
    """
    limits = ProcessLimits(processor_time=1, time=1, memory=ADDRESSES)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    signal.signal(signal.SIGALRM, _end)

    def expanded(_: str, request: Any, *__: Any) -> str:
        signal.setitimer(signal.ITIMER_REAL, limits.time)
        path, arguments = request
        try:
            return json.dumps(xacro_reader.answer(path, arguments, limits))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    vars(xacro_reader)['answer_of'] = expanded
    return as_file('.xacro', lambda path: use(load_model(path)))


def _end(*_: object) -> None:
    raise TimeoutError('expected an expansion within a second')


def seeds() -> Iterator[bytes]:
    """Return files with arguments, properties, macros and conditions."""
    yield START + (b'<xacro:arg name="n" default="2"/><xacro:property name="m" value="${2*pi}"/>'
                   b'<xacro:macro name="l" params="k"><link name="a${k}"/></xacro:macro>'
                   b'<xacro:l k="$(arg n)"/></robot>')
    yield START + (b'<xacro:if value="${1 &lt; 2}"><link name="a"/></xacro:if>'
                   b'<xacro:unless value="1"><link name="b"/></xacro:unless></robot>')


TARGET = Target(make, seeds)
