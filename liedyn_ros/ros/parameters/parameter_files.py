# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parameters that a user wrote and no node uses: misspelt names, files for other nodes."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from pathlib import Path
import re
from typing import Any

import yaml

from liedyn_ros.common.resources import config_file
from liedyn_ros.common.untrusted_files import read_file

OPTION = '--params-file'
KEY = 'ros__parameters'
_LIBYAML = yaml.__with_libyaml__  # whether PyYAML has libyaml, by which rcl reads
RCLPY_PARAMETERS = ('use_sim_time', 'qos_overrides', 'start_type_description_service')  # of rclpy


def unknown_parameters(
        given: Sequence[str], known: Sequence[str], node: str = '',
        arguments: Sequence[str] = ()) -> list[str]:
    """
    Return a line for each name given that no parameter has, with the nearest that one has.

    node: its full name. arguments: of its command line; what files give to it as to other nodes
    of the package is meant for those.
    """
    unknown = {name for name in given
               if name not in known and name.split('.')[0] not in RCLPY_PARAMETERS}
    if unknown:
        unknown -= _for_others(node, arguments)
    lines = []
    for name in sorted(unknown):
        near = get_close_matches(name, known, 1)
        lines.append(f'parameter {name}: expected a name that the node knows, got an unknown one'
                     + (f'; the nearest is {near[0]}' if near else ''))
    return lines


def _for_others(node: str, arguments: Sequence[str]) -> set[str]:
    """Return the names in blocks for several nodes, `/**`, that some node of the package has."""
    shared, own = set[str](), set[str]()
    for _, entries in _files(arguments):
        for pattern, parameters in entries or ():
            if _matches(pattern, node) and isinstance(parameters, Mapping):
                (shared if '*' in pattern.rpartition('/')[2] else own).update(parameters)
    return (shared - own) & _of_the_package() if shared else set()


@cache
def _of_the_package() -> set[str]:
    """Return the parameters of all nodes, which the files of config/ give."""
    folder = config_file('stewart.yaml').parent
    return {name for path in folder.glob('*.yaml') for _, parameters in _entries(_read(path))
            if isinstance(parameters, Mapping) for name in parameters}


def files_of_others(node: str, arguments: Sequence[str]) -> list[str]:
    """
    Return a line for each parameter file of a command line without an entry for a node.

    node: its full name, with its namespace.
    """
    lines = []
    for path, entries in _files(arguments):
        if entries is None:
            lines.append(f'{path}: expected a file that PyYAML reads too, as rcl does, got one '
                         'that it refuses: names in it are not checked')
            continue
        names = [name for name, _ in entries]
        if not any(_matches(name, node) for name in names):
            lines.append(f'{path}: expected an entry for {node}, got entries for '
                         f'{", ".join(names) or "no node"}: every parameter is at its default')
    return lines


def _files(arguments: Sequence[str]) -> Iterator[tuple[str, list[tuple[str, Any]] | None]]:
    """Return path and entries of each file of a command line, None where YAML is refused here."""
    for option, path in pairwise(arguments):
        if option == OPTION:
            try:
                yield path, list(_entries(_read(path)))
            except yaml.YAMLError:
                yield path, None


def _read(path: str | Path) -> Any:
    """Return a document that rcl has read already."""
    text = read_file(path).decode()
    # Names alone: no date and no number is converted.
    return (yaml.load(text, Loader=yaml.CBaseLoader) if _LIBYAML
            else yaml.load(text, Loader=yaml.BaseLoader))


def _entries(document: Any, above: str = '') -> Iterator[tuple[str, Any]]:
    """Return the names of nodes in a file, which may stand in nested namespaces."""
    if not isinstance(document, Mapping):
        return
    for key, value in document.items():
        name = f'{above}/{str(key).strip("/")}'
        if isinstance(value, Mapping) and KEY in value:
            yield name, value[KEY]
        else:
            yield from _entries(value, name)


def _matches(pattern: str, node: str) -> bool:
    """Return whether a name of a file, in which * and ** stand for names, is that of a node."""
    parts = {'**': '.*', '*': '[^/]+'}
    expression = ''.join(
        parts.get(part, re.escape(part)) for part in re.split(r'(\*\*|\*)', pattern))
    # `/**/name` names a node without a namespace too.
    return any(re.fullmatch(each, node) for each in (expression, expression.replace('/.*/', '/')))
