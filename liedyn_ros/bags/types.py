# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Types of messages by their names: the class of rclpy, and the text that a bag keeps."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
import os
from pathlib import Path
import re
from typing import Any

from rosbags.typesys import get_types_from_msg, get_typestore, Stores

from liedyn_ros.common.description import abbreviate
from liedyn_ros.common.errors import DescriptionError

TYPE_PATTERN = re.compile(r'([a-z][a-z0-9_]*)/msg/([A-Z][A-Za-z0-9]*)')
FIELD_PATTERN = re.compile(r'^\s*(?:([a-zA-Z]\w*)/)?([A-Z]\w*)(?:\[[^\]]*\])?\s+\w+', re.MULTILINE)


def message_class(type_name: str) -> Any:
    """
    Return the class of a type such as 'std_msgs/msg/String'. Raises DescriptionError.

    A bag or a peer names the type: no module but those of a package's messages is imported.
    """
    found = TYPE_PATTERN.fullmatch(type_name)
    if found is None:
        raise DescriptionError(f'type: expected a package and a message, such as '
                               f'std_msgs/msg/String, got {abbreviate(type_name)}')
    package, name = found.groups()
    try:
        spec = find_spec(package)
        places = [] if spec is None else spec.submodule_search_locations or []
        if not any(Path(each, 'msg', '__init__.py').is_file() for each in places):
            raise ModuleNotFoundError(f'no messages of {package}')
        return getattr(import_module(f'{package}.msg'), name)
    except (ImportError, AttributeError) as error:
        raise DescriptionError(f'{type_name}: expected a type that is installed, got '
                               f'{error}') from error


class Definitions:
    """The texts of types, from rosbags and from packages that are sourced."""

    def __init__(self) -> None:
        """Begin with those that rosbags knows."""
        self.store = get_typestore(Stores.LATEST)

    def text(self, type_name: str) -> tuple[str, str]:
        """Return the text of a type, with those of its fields, and its hash (RIHS01)."""
        self._know(type_name)
        text, _ = self.store.generate_msgdef(type_name, ros_version=2)
        return text, self.store.hash_rihs01(type_name)

    def _know(self, type_name: str) -> None:
        """Read the file of a type that is not known, and those of its fields."""
        if type_name in self.store.fielddefs:
            return
        package, _, name = type_name.partition('/msg/')
        text = _file(package, name).read_text(encoding='utf-8')
        for of, field in FIELD_PATTERN.findall(text):
            self._know(f'{of or package}/msg/{field}')
        self.store.register(get_types_from_msg(text, type_name))


def _file(package: str, name: str) -> Path:
    for prefix in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
        file = Path(prefix, 'share', package, 'msg', f'{name}.msg')
        if prefix and file.is_file():
            return file
    raise DescriptionError(f'{package}/msg/{name}: expected its file in a package that is '
                           'sourced, found none')
