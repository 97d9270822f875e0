# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A browser for tests: one without a graphics card, conditions in its pages, and recordings."""

import shutil
import threading
import time

CHROMIUM = shutil.which('chromium')
ARGUMENTS = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader',
             '--enable-unsafe-swiftshader']  # without a graphics card
COARSE = 0.25  # pixels drawn for each pixel of the page, as a processor draws them
LIMIT = 240_000.0  # ms; a processor that draws takes its time

# What only markup of a hostile text makes.
MARKS = ','.join(f'a[href*="{each}"]' for each in ('evil', '203.', 'javascript')) + ',iframe'


def wait_for(reached):
    """Wait until a condition holds: the page shows its text before the ghost is drawn."""
    end, pause = time.monotonic() + LIMIT / 1e3, threading.Event()
    while not reached():
        assert time.monotonic() < end, 'the condition did not come to hold'
        pause.wait(0.02)


def of_others(tab, address):
    """Return what was asked of anybody but an address."""
    return [url for url in tab.asked
            if not url.startswith((address, address.replace('http', 'ws'), 'data:', 'blob:'))]


def told_to(tab, address):
    """Return the requests of a browser beyond the page, and the marks that scripts left."""
    marks = [frame.evaluate(f'() => window.hacked || document.querySelectorAll({MARKS!r}).length')
             for frame in tab.frames]
    return [*of_others(tab, address), *filter(None, marks)]


def assert_plays_offline(tab, path):
    """Open a recording without a network, and see its time pass; it asks for itself alone."""
    tab.context.set_offline(True)
    tab.asked.clear()
    tab.goto(path.as_uri())
    tab.locator('canvas').first.wait_for()
    times = tab.locator('input').first
    first = times.input_value()
    wait_for(lambda: float(times.input_value()) > float(first))
    assert {url for url in tab.asked if not url.startswith(('data:', 'blob:'))} == {path.as_uri()}
    assert tab.faults == []
