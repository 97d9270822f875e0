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

COMMAND_FOLDERS = ('bin', 'Scripts', 'liedyn_ros')  # folders of console scripts: of pip, of ROS


# Requirements of pip by extra, as setup.py has them, which a test compares. A hint names these and
# not this package: a name that the package index does not have could be anybody's.
EXTRAS = {
    'bags': ('rosbags>=0.11,<1', 'mcap>=1.2,<2'), 'completion': ('argcomplete>=3,<4',),
    'contacts': ('clarabel>=0.9,<1',),
    'identification': ('clarabel>=0.9,<1',), 'meshes': ('trimesh>=4,<6',),
    'mujoco': ('mujoco>=3.3,<5',), 'parquet': ('pyarrow>=14',), 'plots': ('matplotlib>=3.6,<4',),
    'retiming': ('clarabel>=0.9,<1',), 'view': ('viser>=1,<2', 'pycollada>=0.8,<1'),
    'xacro': ('xacro>=2,<3',)}


def remedy_of(extra: str) -> str:
    """Return how the packages of an extra are installed."""
    needed = ' '.join(f"'{each}'" for each in EXTRAS[extra])
    return f'pip install {needed}, or make build in a clone'


def require_extra(extra: str, *modules: str, reason: str = '') -> None:
    """Raise the error of require_module where a module of an extra is not installed."""
    for each in modules:
        require_module(each, f'{reason}{": " if reason else ""}{remedy_of(extra)}')


def require_module(name: str, remedy: str) -> None:
    """
    Raise ModuleNotFoundError that tells the remedy, where a module is not installed.

    A command of the package ends with this sentence alone; a program has the way to it too.
    """
    if find_spec(name) is None:
        error = ModuleNotFoundError(
            f'{name}: expected an installed package, found none; {remedy}', name=name)
        program = Path(sys.argv[0] if sys.argv else '')
        if program.name == '-m' or program.parent.name in COMMAND_FOLDERS:
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
