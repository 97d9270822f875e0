# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The cache of compiled kernels: where it is, and whether it can be used."""

from collections.abc import Iterator

from liedyn_ros.commands.operation.finding import Finding, Level

PART = 'kernel cache'
OWNER = 'let it belong to the user that runs the nodes, or set NUMBA_CACHE_DIR'


def findings() -> Iterator[Finding]:
    """Provide the state of the cache."""
    try:
        from liedyn_ros.jit.cache import cache_state
    except ImportError as error:
        yield Finding(PART, Level.ERROR, f'cannot be read: {error}', 'install numba')
        return
    state = cache_state()
    yield Finding(PART, Level.OK, f'{state.folder}: {state.kernels} kernels, '
                  f'{1e-6 * state.size:.0f} MB')
    if state.problem:
        yield Finding(PART, Level.WARN, f'not used, each start compiles: {state.problem}', OWNER)
    elif not state.writable:
        yield Finding(PART, Level.WARN, 'cannot be written: kernels that are not there are '
                      'compiled at each start', OWNER)
    for path in state.damaged:
        yield Finding(PART, Level.WARN, f'damaged: {path}',
                      'nothing: it is compiled again. If it comes back, check the disk')
