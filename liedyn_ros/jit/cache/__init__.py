# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Compiled kernels on disk: by a digest of their sources, with a checksum, of trusted owners."""

from liedyn_ros.jit.cache.kernel_cache import COUNTS, KernelCache, NO_WRAPPER
from liedyn_ros.jit.cache.state import cache_state, CacheState, kernel_files

__all__ = ['cache_state', 'CacheState', 'COUNTS', 'kernel_files', 'KernelCache', 'NO_WRAPPER']
