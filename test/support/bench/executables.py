# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The nodes by their executables."""

from importlib import import_module
from pathlib import Path

from liedyn_ros.nodes import PROGRAMS
from liedyn_ros.ros.node.lifecycle import ManagedNode

ROOT = Path(__file__).parents[3]
NODES = {name: module for name, module in PROGRAMS.items()
         if module.startswith('liedyn_ros.nodes.')}


def node_class(name):
    """Return the class of a node, which its module defines."""
    module = import_module(NODES[name])
    found, = (value for value in vars(module).values() if isinstance(value, type)
              and issubclass(value, ManagedNode) and value.__module__ == module.__name__)
    return found
