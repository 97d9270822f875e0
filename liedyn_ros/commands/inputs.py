# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Input of the commands: options, rows of numbers, poses, settings of the pose node."""

from __future__ import annotations

from argparse import Action, ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array, listed, unknown_name
from liedyn_ros.common.errors import (
    bounded, DescriptionError, LiedynError, LimitError, NameSetError)
from liedyn_ros.common.resources import config_file
from liedyn_ros.common.untrusted_files import read_file
from liedyn_ros.common.yaml_reader import read
from liedyn_ros.lie import SE3, SO3

NODE = 'stewart_pose'


class HelpFormatter(ArgumentDefaultsHelpFormatter):
    """Help of options with their defaults, where there are any, as a user would write them."""

    def _get_help_string(self, action: Action) -> str | None:
        default, text = action.default, action.help
        if default in (None, False, '') or (isinstance(default, list | tuple) and not default):
            return text
        if not isinstance(default, list | tuple | float) or '%(default)' in (text or ''):
            return super()._get_help_string(action)
        words = default if isinstance(default, list | tuple) else [default]
        return f'{text} (default: {" ".join(map(_written, words))})'


def _written(value: object) -> str:
    return f'{value:g}' if isinstance(value, float) else str(value)


@contextmanager
def about(options: Namespace, paths: Sequence[Path]) -> Iterator[None]:
    """Put files before an error of work on them that names neither one nor an option."""
    try:
        yield
    except LiedynError as error:
        text = str(error)
        value = getattr(options, text.partition(':')[0], None)
        given = value is not None and not isinstance(value, (list, Path))
        named = text.startswith('--') or any(str(each) in text for each in paths)
        if not given and not named:
            error.args = (bounded(f'{", ".join(map(str, paths))}: {text}'),)
        raise


def require_taken(options: Namespace, parser: ArgumentParser, kinds: Set[str],
                  takers: Mapping[str, Sequence[str]]) -> None:
    """
    Raise NameSetError for an option that nothing takes.

    kinds are those of what is given, such as a table or a bag. takers has for each kind the
    options that it alone takes; those with the parser's defaults are not given.
    """
    for kind, names in takers.items():
        for name in names:
            if kind not in kinds and getattr(options, name) != parser.get_default(name):
                raise NameSetError(f'--{name}: expected a {kind}, which alone takes it, got a '
                                   f'{" and a ".join(sorted(kinds))}')


def noise_of(options: Namespace, needed: Mapping[str, bool]) -> dict[str, float] | None:
    """
    Return the deviation of each kind of measurement by its option, None where none is given.

    Of a kind that is not needed it is 1. Raises LimitError where a needed one is missing.
    """
    given = {kind: getattr(options, f'{kind}_noise') for kind in needed}
    if all(value is None for value in given.values()):
        return None
    missing = [kind for kind, needs in needed.items() if needs and given[kind] is None]
    if missing:
        raise LimitError('--' + ', --'.join(f'{kind}-noise' for kind in missing)
                         + ': expected with the noise of the others, got none')
    return {kind: 1.0 if value is None else value for kind, value in given.items()}


def settings_of(path: Path | None) -> dict[str, Any]:
    """
    Return the parameters of the pose node in a file over the defaults of config/stewart.yaml.

    Raises DescriptionError for a file that is no parameter file, and NameSetError for a name that
    is no parameter.
    """
    settings = node_settings(path)
    for name in ('orientation_noise', 'extra_length_noise'):
        if settings[name]:
            raise DescriptionError(f'{path}: {name}: expected 0, as redundant sensors of a bag '
                                   f'are not read, got {settings[name]}')
    return settings


def node_settings(path: Path | None) -> dict[str, Any]:
    """Return the node's parameters from a file, those of redundant sensors too."""
    settings = _parameters(config_file('stewart.yaml'))
    for name, value in ({} if path is None else _parameters(path)).items():
        if name not in settings and name != 'use_sim_time':
            raise unknown_name(NameSetError, f'{path}: parameter', settings, name)
        settings[name] = value
    return settings


def _parameters(path: Path) -> dict[str, Any]:
    """Return the parameters that a file has for the node, those of all nodes included."""
    try:
        content = read(path, str(path)).value
        of_node = {key: section for key, section in content.items()
                   if key.rpartition('/')[2] in ('**', NODE)}
        found: dict[str, Any] = {}
        for section in of_node.values():
            found |= section['ros__parameters']
    except (LiedynError, AttributeError, KeyError, TypeError) as error:
        raise DescriptionError(f'{path}: expected a parameter file of ROS 2, got {error!r}'
                               ) from error
    if content and not of_node:
        raise DescriptionError(f'{path}: expected a section {NODE} or /**, got '
                               f'{listed(list(content))}')
    return found


def read_rows(path: Path, columns: int) -> Array:
    """Return the rows (n, columns) of a text file. Raises DescriptionError."""
    rows = []
    try:
        text = read_file(path).decode()
    except ValueError as error:
        raise DescriptionError(f'{path}: expected a readable text file, got {error}') from error
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition('#')[0].replace(',', ' ').split()
        if not words:
            continue
        try:
            rows.append([float(word) for word in words])
        except ValueError as error:
            raise DescriptionError(f'{path}:{number}: expected numbers, got {line!r}') from error
        if len(words) != columns:
            raise DescriptionError(
                f'{path}:{number}: expected {columns} numbers, got {len(words)}')
    if not rows:
        raise DescriptionError(f'{path}: expected a row of numbers or more, got none')
    return checks.as_array(str(path), rows, (-1, columns))


def pose_of(values: Sequence[float] | Array) -> Array:
    """Return a pose (4, 4) from x, y, z in m and roll, pitch, yaw in degrees."""
    return SE3.from_rotation_translation(
        SO3.from_rpy(*np.radians(values[3:])), values[:3]).matrix
