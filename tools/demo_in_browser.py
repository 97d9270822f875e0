# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Time how soon a newcomer sees the demo in a browser: python -m tools.demo_in_browser.

It clones the last commit into a new folder, runs `make demo` there with an empty cache of kernels,
and opens the page that the demo names. It prints the seconds from before the clone: until the
address is printed, the page is there, the platform moves, and the demo has ended. The kernels of
the machine's own cache are not used; pip's cache is. --no-pip-cache leaves that out too. It needs
Playwright and a browser of the name chromium. Exit code 0: all came, and the demo held.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
import os
from pathlib import Path
import re
import shutil
import signal
import subprocess
import sys
from tempfile import TemporaryDirectory
from threading import Event
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]
ARGUMENTS = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader',
             '--enable-unsafe-swiftshader']  # without a graphics card
LIMIT = 1800.0  # s
ADDRESS = re.compile(r'Watch it live: (http\S+)')
# What a shell of this project sets, which a newcomer's has not.
OURS = ('VIRTUAL_ENV', 'PYTHONPATH', 'AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH',
        'PYTHONPYCACHEPREFIX', 'ROS_VERSION', 'ROS_PYTHON_VERSION', 'MAKEFLAGS')


class Clock:
    """Prints how many seconds have passed since it was made."""

    def __init__(self) -> None:
        """Start."""
        self._start = time.monotonic()

    def say(self, what: str) -> None:
        """Print when something came."""
        print(f'{what}: {time.monotonic() - self._start:.1f} s', flush=True)

    def passed(self) -> float:
        """Return the seconds that have passed."""
        return time.monotonic() - self._start


def newcomers_environment(folder: Path, pip_cache: bool) -> dict[str, str]:
    """Return an environment without what this project's shells and earlier runs left."""
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    kept['PATH'] = os.pathsep.join(part for part in kept['PATH'].split(os.pathsep)
                                   if '.venv' not in part)
    kept['LIEDYN_OBJECTS'] = str(folder / 'objects')
    return kept if pip_cache else kept | {'PIP_NO_CACHE_DIR': '1'}


@contextmanager
def demo_in(folder: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run `make demo` in a folder's clone, logged in the folder; leave nothing of it running."""
    with (folder / 'log').open('wb') as log:
        demo = subprocess.Popen(['make', 'demo'], cwd=folder / 'clone', stdout=log,
                                stderr=subprocess.STDOUT, env=environment, start_new_session=True)
    try:
        yield demo
    finally:
        with suppress(ProcessLookupError):  # it has ended
            os.killpg(demo.pid, signal.SIGKILL)  # its folder goes, so it has nothing to write
        demo.wait()


def address_of(log: Path, demo: subprocess.Popen[bytes], clock: Clock) -> str:
    """Wait until the demo has printed the address of its page; return it."""
    pause = Event()
    while not (found := ADDRESS.search(log.read_text(encoding='utf-8', errors='replace'))):
        if demo.poll() is not None or clock.passed() > LIMIT:
            raise RuntimeError(f'expected the address of a page, got:\n{log.read_text()[-2000:]}')
        pause.wait(0.1)
    return found[1]


def look(tab: Page, address: str, clock: Clock) -> None:
    """Open the page, and see the platform move."""
    from playwright.sync_api import Error

    pause = Event()
    while True:
        try:
            tab.goto(address)
            break
        except Error:
            if clock.passed() > LIMIT:
                raise
            pause.wait(0.2)
    clock.say('the page is in the browser')
    position = tab.get_by_text('Position').first
    position.wait_for()
    first = position.inner_text()
    while position.inner_text() == first:
        if clock.passed() > LIMIT:
            raise RuntimeError(f'expected the platform to move, it stays at {first}')
        pause.wait(0.05)
    clock.say('the platform moves in it')


def main() -> int:
    """Clone, run, look, and print the seconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--no-pip-cache', action='store_true', help='download all packages')
    parser.add_argument('--picture', type=Path, help='PNG file of the page when it moves')
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with TemporaryDirectory() as name, sync_playwright() as context:
        folder, clock = Path(name), Clock()
        subprocess.run(['git', 'clone', '-q', ROOT, folder / 'clone'], check=True)
        clock.say('cloned')
        with demo_in(folder, newcomers_environment(folder, not options.no_pip_cache)) as demo:
            address = address_of(folder / 'log', demo, clock)
            clock.say('the address is printed')
            browser = context.chromium.launch(executable_path=shutil.which('chromium'),
                                              args=ARGUMENTS)
            tab = browser.new_page(viewport={'width': 900, 'height': 600})
            tab.set_default_timeout(1e3 * LIMIT)
            look(tab, address, clock)
            if options.picture:
                tab.screenshot(path=options.picture)
            browser.close()
            code = demo.wait(LIMIT)
        clock.say(f'the demo has ended with exit code {code}')
        if code:
            print((folder / 'log').read_text(encoding='utf-8')[-3000:])
    return code


if __name__ == '__main__':
    sys.exit(main())
