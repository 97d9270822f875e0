# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The layout of the constants in a model file, as one number."""

import hashlib

from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.jit.pointers import COUNT
from liedyn_ros.model.kernels import kinds

VERSION = 1  # of the file
_NUMBERS = [(module.__name__, name, value) for module in (tables, kinds)
            for name, value in sorted(vars(module).items()) if name.isupper()]
# 63 bits that change where columns of the constants or kinds of links do.
DIGEST = int(hashlib.sha256(repr((VERSION, _NUMBERS)).encode()).hexdigest()[:16], 16) >> 1


def layout() -> COUNT:
    """Return the digest of the layout that the kernels read."""
    return DIGEST
