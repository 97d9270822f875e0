# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Imports of many modules: no search for garbage while they run, and the same ones after."""

import gc
import weakref

import pytest

from liedyn_ros.common.imports import kept


class Ring:
    """An object that holds itself: only the collector ends it."""

    def __init__(self):
        self.own = self


@pytest.fixture(autouse=True)
def enabled():
    """Let the collector be on, as in a process of a user, who has frozen nothing."""
    was, frozen = gc.isenabled(), gc.get_freeze_count()
    gc.enable()
    gc.unfreeze()
    yield
    if frozen:
        gc.freeze()
    if not was:
        gc.disable()


def test_what_is_imported_is_old_and_ends_as_any_other_garbage():
    with kept():
        assert not gc.isenabled()
        ring = Ring()
        seen = weakref.ref(ring)
    assert gc.isenabled() and gc.get_freeze_count() == 0
    assert any(each is ring for each in gc.get_objects(generation=2))
    del ring
    gc.collect(1)
    assert seen() is not None
    gc.collect()
    assert seen() is None


def test_what_a_process_has_frozen_stays_frozen():
    gc.freeze()
    frozen = gc.get_freeze_count()
    with kept():
        pass
    assert gc.get_freeze_count() == frozen > 0
    gc.unfreeze()


def test_a_collector_that_is_off_stays_off_and_a_failure_turns_it_on():
    gc.disable()
    with kept():
        pass
    assert not gc.isenabled()
    gc.enable()
    with pytest.raises(ImportError), kept():
        raise ImportError('a module')
    assert gc.isenabled()
