# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Garbage of a node's process is collected by its timer, but not while kernels are compiled."""

import gc
from threading import Event, Thread

from liedyn_ros.jit.first_call import apart
from liedyn_ros.ros.process import garbage


def test_none_is_collected_while_a_kernel_is_compiled() -> None:
    begun, end, collected = Event(), Event(), []

    def compiles() -> None:
        begun.set()
        end.wait()

    def note(phase, of) -> None:
        collected.append((phase, of['generation']))

    thread = Thread(target=apart(compiles))
    thread.start()
    begun.wait()
    gc.callbacks.append(note)
    try:
        garbage.collect()
        assert ('start', 2) not in collected
        end.set()
        thread.join()
        garbage.collect()
        assert ('start', 2) in collected
    finally:
        gc.callbacks.remove(note)
        end.set()
