# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Garbage collection of a process that runs one node: short pauses.

A collection looks at all objects, which takes a tenth of a second after the imports. Frozen
objects are left out. Only `process.run` takes this over; a node that a user composes with others
leaves the collector of that process alone.
"""

import gc

_taken_over = False
_configured = False  # whether the objects of a configuration are frozen


def take_over() -> None:
    """
    Let `freeze` and `freeze_all` act: this process runs one node and nothing else.

    What is imported stays. To search it takes a tenth of a second, and a start did so four times
    or more.
    """
    global _taken_over
    _taken_over = True
    gc.disable()  # it would stop a stream at any time; a timer collects the garbage
    gc.freeze()


def freeze_all() -> None:
    """Collect the garbage of all objects, of an earlier configuration too; freeze the others."""
    if _taken_over:
        if _configured:
            gc.unfreeze()
        _freeze()


def freeze() -> None:
    """Collect the garbage of objects that are not frozen; freeze those of a configuration."""
    global _configured
    if _taken_over:
        _configured = True
        _freeze()


def _freeze() -> None:
    gc.collect()
    gc.freeze()
