# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Output folders and files of the commands, checked before the work; types for argparse."""

from argparse import ArgumentTypeError
import os
from pathlib import Path

SUFFIXES = '.png', '.pdf', '.svg'


def folder(text: str) -> Path:
    """Return a folder to write to; it is created. Raises ArgumentTypeError."""
    path = Path(text)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentTypeError(f'expected a folder, got {error}') from error
    return _writable(path)


def picture(text: str) -> Path:
    """Return a file to draw to; its folder is created. Raises ArgumentTypeError."""
    path = Path(text)
    if path.suffix not in SUFFIXES or path.is_dir():
        raise ArgumentTypeError(f'expected a file {" or ".join(SUFFIXES)}, got {text!r}')
    folder(str(path.parent))
    return _writable(path) if path.exists() else path


def _writable(path: Path) -> Path:
    if not os.access(path, os.W_OK):
        raise ArgumentTypeError(f'expected a path that can be written, got {str(path)!r}')
    return path
