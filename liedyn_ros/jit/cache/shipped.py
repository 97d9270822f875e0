# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Compiled kernels that came with the package, so that a user waits for no compiler.

Whoever builds a release compiles for each processor of a kind (`liedyn_warm_up --into`). setup.py
puts the folder under share/liedyn_ros, as files that nothing writes again. They are as trusted as
the sources beside which they were installed. A kernel of other sources, compilers or Python has
another digest, and is compiled as before.
"""

import functools
from pathlib import Path
import platform

from llvmlite import binding

# Of a kind of processor: LLVM's name of it, and what it has beyond the least of its architecture.
KINDS = {
    'x86_64': ('x86-64-v3', frozenset((
        'avx', 'avx2', 'bmi', 'bmi2', 'f16c', 'fma', 'lzcnt', 'movbe', 'popcnt', 'sse4.2'))),
    'aarch64': ('generic', frozenset())}


def kind_here() -> str | None:
    """Return LLVM's name of the kind of this processor, or None where it has too little."""
    name, needed = KINDS.get(platform.machine(), (None, frozenset()))
    has = binding.get_host_cpu_features()
    return name if all(has.get(feature, False) for feature in needed) else None


def environment(folder: Path) -> dict[str, str]:
    """Return the variables by which a process compiles into a folder for all of this kind."""
    name, _ = KINDS[platform.machine()]
    return {'NUMBA_CPU_NAME': name, 'NUMBA_CPU_FEATURES': '', 'NUMBA_CACHE_DIR': str(folder)}


@functools.cache
def shipped_root() -> Path | None:
    """Return the folder of the kernels that came with the package, if there is one."""
    package = Path(__file__).resolve().parents[2]
    for above in package.parents:
        folder = above / 'share' / package.name / 'kernels'
        if folder.is_dir():
            return folder if kind_here() else None
    return None
