# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
How the kernels of this package are compiled: without reference counts, and inlined.

A kernel of many small functions that take arrays spends more time on atomic reference counts and
on calls than on arithmetic. Without the runtime that counts references nothing can be allocated
either: a kernel that tries does not compile.
"""

from collections.abc import Callable
from typing import Any

import liedyn_ros.compile


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function to be called from Python."""
    compiled: Any = liedyn_ros.compile.kernel(function)
    compiled.targetoptions['_nrt'] = False
    return compiled


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that becomes part of every kernel that calls it."""
    compiled: Any = kernel(function)
    compiled.targetoptions['forceinline'] = True
    return compiled
