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
from importlib.util import find_spec
import io
import json
import os
import resource
import signal
import subprocess
import sys
from typing import Any

from liedyn_ros.common.description import MAX_BYTES, read_file
from liedyn_ros.common.errors import DescriptionError

MAX_PROCESSOR_TIME = 10  # s
MAX_TIME = 30  # s
MAX_MEMORY = 2**30  # bytes of addresses


def has_xacro() -> bool:
    """Return whether the Python package xacro is installed."""
    try:
        return find_spec('xacro') is not None
    except ValueError:  # a module that stands in its place
        return False


def expand(path: str | os.PathLike[str], arguments: Mapping[str, str]) -> str:
    """
    Return the URDF text that a xacro file and its arguments expand to.

    Raises DescriptionError, also for an expansion beyond the limits of time, memory and size. Each
    file that it reads must be a regular one of at most MAX_BYTES.
    """
    read_file(path)  # a clearer error than xacro's
    limits = MAX_PROCESSOR_TIME, MAX_TIME, MAX_MEMORY
    done = subprocess.run(
        [sys.executable, '-m', __name__], text=True, stdout=subprocess.PIPE, check=False,
        input=json.dumps([os.fspath(path), dict(arguments), limits]), start_new_session=True,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))})
    within = {-signal.SIGXCPU: f'{MAX_PROCESSOR_TIME} s of processor time',
              -signal.SIGALRM: f'{MAX_TIME} s'}.get(done.returncode)
    if within:
        raise DescriptionError(f'expected a file that xacro expands within {within}, got more')
    if done.returncode:
        raise DescriptionError('expected a file that xacro can expand, got exit status '
                               f'{done.returncode} of its process')
    answer: dict[str, str] = json.loads(done.stdout)
    if 'error' in answer:
        raise DescriptionError(f'expected {answer["error"]}')
    return answer['text']


def main() -> None:
    """Expand the file that the standard input names, and write its text or the error."""
    path, arguments, limits = json.load(sys.stdin)
    output, sys.stdout = sys.stdout, sys.stderr  # where xacro writes its warnings
    _limit(*limits)
    try:
        import xacro
        xacro.open = _open  # before the one of Python
        text = xacro.process_file(path, mappings=arguments).toxml()
        answer = {'text': text} if len(text) <= MAX_BYTES else {
            'error': f'a file that expands to {MAX_BYTES} characters at most, got {len(text)}'}
    except Exception as error:  # a faulty file makes xacro raise AttributeError, TypeError, any
        answer = {'error': _told(error, limits[-1])}
    json.dump(answer, output)


def _limit(processor_time: int, time: int, memory: int) -> None:
    """Limit this process; a lower limit that it was given stays."""
    for kind, most in ((resource.RLIMIT_CPU, processor_time), (resource.RLIMIT_CORE, 0),
                       (resource.RLIMIT_AS, memory)):
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, hard))
    signal.alarm(time)


def _open(file: Any, mode: str = 'r', *_: object, **__: object) -> io.IOBase:
    """Stand for `open` where xacro reads a file that is included."""
    try:
        content = io.BytesIO(read_file(file))
    except DescriptionError as error:
        raise DescriptionError(f'{file}: {error}') from error
    return content if 'b' in mode else io.TextIOWrapper(content, encoding='utf-8')


def _told(error: BaseException, memory: int) -> str:
    """Return an error of xacro, which wraps those of its expressions."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, MemoryError):
            return f'a file that xacro expands within {memory >> 20} MB of memory, got more'
        inner = getattr(inner, 'exc', None) or inner.__cause__ or inner.__context__
    return f'a file that xacro can expand, got {type(error).__name__}: {error}'


if __name__ == '__main__':
    main()
