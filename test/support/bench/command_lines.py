# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Lines of documents that call services and publish topics, and messages written in YAML."""

from importlib import import_module
from pathlib import Path
import re
import shlex
from typing import NamedTuple

import yaml

from liedyn_ros.nodes import PROGRAMS
from liedyn_ros.ros.node.lifecycle import ManagedNode

PAGES = Path(__file__).parents[3] / 'docs' / 'nodes'
BLOCKS = re.compile(  # a line, and what it answers
    r'^```sh\n(ros2 (?:service call|topic pub) .*?)```\n(?:\n```yaml\n(.*?)```\n)?',
    re.DOTALL | re.MULTILINE)


class Line(NamedTuple):
    """One line; kind: 'service' or 'topic'."""

    kind: str
    name: str
    message_type: type
    fields: dict
    answer: dict  # as the document shows it: some of its fields


def lines_of(node):
    """Return the lines of a node's page, in their order."""
    text = (PAGES / f'{node}.md').read_text(encoding='utf-8')
    return [_line(shlex.split(command.replace('\\\n', ' ')), answer)
            for command, answer in BLOCKS.findall(text)]


def _line(words, answer):
    kind, (name, type_name, fields) = words[1], words[-3:]  # options stand before them
    package, folder, class_name = type_name.split('/')
    return Line(kind, name, getattr(import_module(f'{package}.{folder}'), class_name),
                yaml.safe_load(fields), yaml.safe_load(answer) if answer else {})


def fill(message, fields, stamp=None):
    """Return a message with the fields of a mapping; a header that is 'auto' gets a stamp."""
    for name, value in fields.items():
        part = getattr(message, name)
        kind = message.get_fields_and_field_types()[name]
        if value == 'auto':
            part.stamp = stamp
        elif isinstance(value, dict):
            fill(part, value, stamp)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            entry = _entry_class(kind)
            setattr(message, name, [fill(entry(), each, stamp) for each in value])
        else:
            setattr(message, name, value)
    return message


def _entry_class(kind):
    """Return the class of the entries of an array, 'sequence<package/Name>' or with a bound."""
    package, name = re.match(r'(?:sequence<)?(\w+)/(\w+)', kind).groups()
    return getattr(import_module(f'{package}.msg'), name)


def differences(shown, message, path=''):
    """Yield where a message is not as it is shown; numbers differ in the last digits at most."""
    if isinstance(shown, dict):
        for name, value in shown.items():
            yield from differences(value, getattr(message, name), f'{path}.{name}'.lstrip('.'))
    elif isinstance(shown, list):
        if len(shown) != len(message):
            yield f'{path}: expected {len(shown)} entries, got {len(message)}'
        for index, (value, entry) in enumerate(zip(shown, message)):
            yield from differences(value, entry, f'{path}[{index}]')
    elif isinstance(shown, float):
        if abs(shown - message) > 1e-3 * max(1.0, abs(shown)):
            yield f'{path}: expected {shown}, got {message}'
    elif shown != message:
        yield f'{path}: expected {shown!r}, got {message!r}'


ROOT = Path(__file__).parents[3]
NODES = {name: module for name, module in PROGRAMS.items()
         if module.startswith('liedyn_ros.nodes.')}


def node_class(name):
    """Return the class of a node, which its module defines."""
    module = import_module(NODES[name])
    found, = (value for value in vars(module).values() if isinstance(value, type)
              and issubclass(value, ManagedNode) and value.__module__ == module.__name__)
    return found
