# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Imports of many modules, without the searches through all that they make."""

from collections.abc import Iterator
from contextlib import contextmanager
import gc

from liedyn_ros.common.description import no_garbage_collection


@contextmanager
def kept() -> Iterator[None]:
    """
    Import modules in this block: no garbage is searched for, and what they make counts as old.

    Python searches a package of a thousand modules several times while it is imported, which takes
    a quarter of the time, and finds nothing. Where the process has frozen objects they stay so.
    """
    with no_garbage_collection():
        yield
        if gc.get_freeze_count() == 0:
            gc.freeze()
            gc.unfreeze()
