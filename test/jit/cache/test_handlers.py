# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Signal handlers that run while a kernel is loaded or saved."""

import pickle
import signal
from threading import current_thread, Event, main_thread, Thread

import pytest

from liedyn_ros.jit.cache import kernel_cache


@pytest.mark.parametrize('error', [ValueError, OSError, pickle.UnpicklingError])
@pytest.mark.parametrize('stage', ['read', 'write'])
@pytest.mark.parametrize('in_main', [True, False])
def test_a_handlers_exception_during_load_and_save_is_not_taken_for_one_of_the_cache(
        store, monkeypatch, error, stage, in_main):
    """Python runs handlers in the main thread alone, where no kernel is loaded or saved."""
    working, handled = getattr(kernel_cache, stage), Event()
    threads = []

    def during(*arguments):
        threads.append(current_thread())
        signal.pthread_kill(main_thread().ident, signal.SIGUSR1)
        assert handled.wait(60.0)
        return working(*arguments)

    def handler(*_):
        handled.set()
        raise error('deadline')

    monkeypatch.setattr(kernel_cache, stage, during)
    before = signal.signal(signal.SIGUSR1, handler)
    first = Thread(target=store.start)
    try:
        with pytest.raises(error, match='deadline'):
            if in_main:
                store.start()
            else:
                first.start()
                first.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
        for thread in threads:
            thread.join()
    assert len(threads) == 1 and threads[0] is not main_thread()
    assert store.warnings == []
