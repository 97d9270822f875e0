# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Packages that single parts need beside the core: a missing one is named with its remedy."""

from importlib.util import find_spec
from pathlib import Path
import sys
from types import TracebackType

_COMMANDS = ('bin', 'Scripts', 'liedyn_ros')  # folders of console scripts: of pip, of ROS


def require_module(name: str, remedy: str) -> None:
    """
    Raise ModuleNotFoundError that tells the remedy, where a module is not installed.

    A command of the package ends with this sentence alone; a program has the way to it too.
    """
    if find_spec(name) is None:
        error = ModuleNotFoundError(
            f'{name}: expected an installed package, found none; {remedy}', name=name)
        program = Path(sys.argv[0] if sys.argv else '')
        if program.name == '-m' or program.parent.name in _COMMANDS:
            _end_with(error)
        raise error


def _end_with(error: ModuleNotFoundError) -> None:
    """Let this error, if nobody catches it, end the process with its sentence."""
    before = sys.excepthook

    def end(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        if value is error:
            print(value, file=sys.stderr)
        else:
            before(kind, value, trace)

    sys.excepthook = end
