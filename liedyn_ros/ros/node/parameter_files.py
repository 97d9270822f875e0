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
from itertools import pairwise
from pathlib import Path
import re
from typing import Any

import yaml

OPTION = '--params-file'
KEY = 'ros__parameters'
OTHERS = ('use_sim_time', 'qos_overrides', 'start_type_description_service')  # of rclpy


def unknown_parameters(given: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return a line for each name given that no parameter has, with the nearest that one has."""
    lines = []
    for name in sorted(given):
        if name in known or name.split('.')[0] in OTHERS:
            continue
        near = get_close_matches(name, known, 1)
        lines.append(f'parameter {name}: expected a name that the node knows, got an unknown one'
                     + (f'; the nearest is {near[0]}' if near else ''))
    return lines


def files_of_others(node: str, arguments: Sequence[str]) -> list[str]:
    """
    Return a line for each parameter file of a command line without an entry for a node.

    node: its full name, with its namespace.
    """
    lines = []
    for option, path in pairwise(arguments):
        if option != OPTION:
            continue
        names = [name for name, _ in _entries(_read(path))]
        if not any(_matches(name, node) for name in names):
            lines.append(f'{path}: expected an entry for {node}, got entries for '
                         f'{", ".join(names) or "no node"}: every parameter is at its default')
    return lines


def _read(path: str) -> Any:
    """Return a document that rcl has read already, and so can be read."""
    text = Path(path).read_text(encoding='utf-8')
    return yaml.load(text, Loader=yaml.BaseLoader)  # names alone: no date, no number is converted


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
