# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The layouts of the constants in a model file, each as one number."""

from collections.abc import Iterable
import hashlib
from types import ModuleType
from typing import Any

import numpy as np

from liedyn_ros.dynamics.constrained.configurations.kernels import closing
from liedyn_ros.dynamics.constrained.kernels import tables as constrained_tables
from liedyn_ros.dynamics.constrained.partial_derivatives.kernels import closure_rows, products
from liedyn_ros.dynamics.constrained.tracking.kernels import tracking
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.export.kernels import loops, platform
from liedyn_ros.jit.bundle import Bundle
from liedyn_ros.jit.pointers import COUNT
from liedyn_ros.model.kernels import kinds
from liedyn_ros.stewart.certificate.kernels import pose
from liedyn_ros.stewart.dynamics.kernels import leg
from liedyn_ros.stewart.dynamics.kernels import platform as platform_dynamics
from liedyn_ros.stewart.platform.kernels import leg_rows, limits

VERSION = 1  # of the file


def _digest(modules: Iterable[ModuleType]) -> int:
    """Return 63 bits that change where a number of the modules does, such as a column's."""
    numbers = [(module.__name__, name, _plain(value)) for module in modules
               for name, value in sorted(vars(module).items()) if name.isupper()]
    return int(hashlib.sha256(repr((VERSION, numbers)).encode()).hexdigest()[:16], 16) >> 1


def _plain(value: Any) -> Any:
    """Return the part of a value that is the same in every process: of a bundle, its arrays."""
    if isinstance(value, Bundle):
        return value.description
    return value.item() if isinstance(value, np.generic) else value


DIGESTS = TREE_LAYOUT, PLATFORM_LAYOUT, LOOP_LAYOUT = (
    _digest((tables, kinds)), _digest((leg_rows, limits, pose, platform_dynamics, leg, platform)),
    _digest((tables, kinds, constrained_tables, loops, closure_rows, products, tracking, closing)))


def layout(kind: COUNT) -> COUNT:
    """Return the digest of the layout that the kernels read, of a kind of machine."""
    if kind == 1:
        return TREE_LAYOUT
    return PLATFORM_LAYOUT if kind == 2 else LOOP_LAYOUT
