# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Xacro files expanded in a process of their own, with limits of time and memory.

A xacro file holds Python expressions and may include any file, so it can run for ever and take all
memory. This module is also that process: `python -m` runs it.
"""

from collections.abc import Mapping
import io
import json
import os
from pathlib import Path
import sys
from typing import Any

from liedyn_ros.common.description import abbreviate
from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.common.extras import remedy_of
from liedyn_ros.common.processes import answer_of, failure_text, ProcessLimits, taken_request
from liedyn_ros.common.resources import package_folder
from liedyn_ros.common.untrusted_files import MAX_DESCRIPTION_BYTES, read_file

XACRO_LIMITS = ProcessLimits(processor_time=60, time=300, memory=2**30)
EXPANDING = 'that xacro expands'


def expand(path: str | os.PathLike[str], arguments: Mapping[str, str]) -> str:
    """
    Return the URDF text that a xacro file and its arguments expand to.

    Raises DescriptionError, also for an expansion beyond the limits of time, memory and size. Each
    file that it reads must be a regular one of at most MAX_BYTES.
    """
    if not isinstance(arguments, Mapping):
        raise DescriptionError('expected xacro arguments as a Mapping of names, got '
                               f'{abbreviate(arguments)}')
    read_file(path)  # a clearer error than xacro's
    found: dict[str, str] = json.loads(answer_of(
        __name__, [os.fspath(path), dict(arguments)], XACRO_LIMITS, EXPANDING))
    if 'error' in found:
        raise DescriptionError(f'expected {found["error"]}')
    return found['text']


def main() -> None:
    """Expand the file that the standard input names, and write its text or the error."""
    (path, arguments), limits = taken_request()
    output, sys.stdout = sys.stdout, sys.stderr  # where xacro writes its warnings
    json.dump(answer(path, arguments, limits), output)


def answer(path: str, arguments: dict[str, str], limits: ProcessLimits) -> dict[str, str]:
    """Return the text of a file, or what was expected of it under `error`, in this process."""
    try:
        import xacro
    except ImportError:
        return {'error': 'the Python package xacro, which expands .xacro files (with ROS: apt '
                f'install ros-${{ROS_DISTRO}}-xacro, else: {remedy_of("xacro")}), got none'}
    try:
        import xacro.substitution_args as substitution
        xacro.open = _open  # before the one of Python
        substitution._eval_find = lambda name: str(
            package_folder(name, Path(path).absolute().parent))
        text = xacro.process_file(path, mappings=arguments).toxml()
        return {'text': text} if len(text) <= MAX_DESCRIPTION_BYTES else {
            'error': f'a file that expands to {MAX_DESCRIPTION_BYTES} characters at most, got '
                     f'{len(text)}'}
    except Exception as error:  # a faulty file makes xacro raise AttributeError, TypeError, any
        return {'error': failure_text(error, limits, EXPANDING)}


def _open(file: Any, mode: str = 'r', *_: object, **__: object) -> io.IOBase:
    """Stand for `open` where xacro reads a file that is included."""
    try:
        content = io.BytesIO(read_file(file))
    except DescriptionError as error:
        raise DescriptionError(f'{file}: {error}') from error
    return content if 'b' in mode else io.TextIOWrapper(content, encoding='utf-8')


if __name__ == '__main__':
    main()
