# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Checks of indices in kernels: a mode for tests, by LIEDYN_CHECK=1 in the environment.

Kernels check no index, since each check costs as much as the access. In this mode a wrong index of
an array, a table or a bundle raises IndexError instead of reading or writing other memory.
"""

import os
from typing import Any

from liedyn_ros.jit.compiler import cgutils

CHECKS = os.environ.get('LIEDYN_CHECK', '0')
if CHECKS not in ('0', '1'):
    raise ImportError(f'LIEDYN_CHECK: expected 0 or 1, got {CHECKS!r}')
CHECKED = CHECKS == '1'


def check_index(context: Any, builder: Any, index: Any, length: Any, axis: int) -> None:
    """Generate the check that an index of an axis is from 0 on and below a length."""
    if CHECKED:
        cgutils.do_boundscheck(context, builder, index, length, axis)
