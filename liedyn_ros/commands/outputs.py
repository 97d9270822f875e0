# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Output of the commands: folders and files, checked before the work, and recordings."""

from argparse import ArgumentTypeError
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.util import find_spec
import os
from pathlib import Path

from liedyn_ros.common.checks import Array
from liedyn_ros.common.extras import remedy_of
from liedyn_ros.view_state import Description, Machine, ViewInput

PICTURE_SUFFIXES = '.png', '.pdf', '.svg'


def folder(text: str) -> Path:
    """Return a folder to write to; it is created. Raises ArgumentTypeError."""
    path = Path(text)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentTypeError(f'expected a folder, got {error}') from error
    return _writable(path)


def without_empty(path: Path) -> None:
    """Remove a folder that nothing was written to, as after an error."""
    with suppress(OSError):
        path.rmdir()


def set_aside(result: Path, *others: Path, given: Path | None = None) -> None:
    """
    Rename a result of an earlier run that this one does not have, and say so.

    It gets the suffix .old, and so do the files that come with it. Where this run was given one
    of them, all stay.
    """
    files = [each for each in (result, *others) if each.exists()]
    if not result.exists() or (given and any(each.samefile(given) for each in files)):
        return
    for each in files:
        each.replace(f'{each}.old')
    print('of an earlier run, now with the suffix .old:', ', '.join(map(str, files)))


def picture(text: str, suffixes: Sequence[str] = PICTURE_SUFFIXES) -> Path:
    """Return a file to draw to; its folder is created. Raises ArgumentTypeError."""
    path = Path(text)
    if path.suffix not in suffixes or path.is_dir():
        raise ArgumentTypeError(f'expected a file {" or ".join(suffixes)}, got {text!r}')
    folder(str(path.parent))
    return _writable(path) if path.exists() else path


def page(text: str) -> Path:
    """Return a file of HTML to write; its folder is created. Raises ArgumentTypeError."""
    return picture(text, ('.html',))


def recording(path: Path, machine: Machine, shown: Iterable[tuple[float, ViewInput]],
              home: Array | None = None, description: Description | None = None) -> None:
    """
    Write pictures of a machine at times, s, as one HTML file, and say so.

    home (4, 4) is of a platform, description of a robot. Without the view there is no file, which
    is said too.
    """
    if find_spec('viser') is None:
        print(f'No recording to look at: {remedy_of("view")}')
        return
    from liedyn_ros.view.page import write_recording
    from liedyn_ros.view.recording import MAX_DURATION
    shown = list(shown)
    write_recording(path, machine, shown, home, description)
    whole = shown[-1][0] - shown[0][0] if shown else 0.0
    part = f'the first {MAX_DURATION:.0f} s of {whole:.0f} s' if whole > MAX_DURATION else 'it'
    print(f'{path} plays {part} in any browser, without a network')


def pair_of(text: str) -> tuple[str, str]:
    """Return name and value of NAME=VALUE. Raises ArgumentTypeError."""
    name, equal, value = text.partition('=')
    if not (name and equal and value):
        raise ArgumentTypeError(f'expected NAME=VALUE, got {text!r}')
    return name, value


def number_of(text: str) -> tuple[str, float]:
    """Return name and number of NAME=NUMBER. Raises ArgumentTypeError."""
    name, value = pair_of(text)
    try:
        return name, float(value)
    except ValueError as error:
        raise ArgumentTypeError(f'expected NAME=NUMBER, got {text!r}') from error


def measure_of(text: str) -> tuple[str, float, float]:
    """Return name, number and deviation of NAME=NUMBER or NAME=NUMBER+-DEVIATION, or raise."""
    name, value = pair_of(text)
    number, _, deviation = value.replace('±', '+-').partition('+-')
    try:
        found = float(number), float(deviation or 0.0)
    except ValueError:
        found = 0.0, -1.0
    if found[1] < 0.0:
        raise ArgumentTypeError(f'expected NAME=NUMBER or NAME=NUMBER+-DEVIATION, got {text!r}')
    return (name, *found)


def _writable(path: Path) -> Path:
    if not os.access(path, os.W_OK):
        raise ArgumentTypeError(f'expected a path that can be written, got {str(path)!r}')
    return path
