# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A page that shows a demo live while it runs, and is left as one HTML file when it has ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
import re
import time
from typing import Any

from liedyn_ros.demo.processes import NodeProcess
from liedyn_ros.demo.session import START_LIMIT

RATE = 15.0  # Hz, of pictures: the nodes of the demo need the processor more
ADDRESS = re.compile(r'the view is on (\S+)')
REFUSED = re.compile('not configured: .*')
WRITING = 120.0  # s that the page has to be written, on a busy machine


@contextmanager
def watched(folder: Path, name: str, **parameters: Any) -> Iterator[None]:
    """Show a machine on a page while a demo runs, and write NAME.html into a folder."""
    if find_spec('viser') is None:
        print("\nNo live page: pip install 'liedyn_ros[view]'")
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    recording = folder.absolute() / f'{name}.html'
    with NodeProcess('liedyn_ros.view', {'recording': recording, 'rate': RATE, **parameters},
                     folder / f'{name}_view.log', WRITING) as view:
        print(f'\nWatch it live: {address_of(view)}', flush=True)
        yield
        require_machine(view)  # the page is there before its machine
    print(f'\n{folder / name}.html plays it again in any browser, without a network')


def address_of(view: NodeProcess) -> str:
    """Return where the page is, once it is; raise RuntimeError where none comes."""
    end = time.monotonic() + START_LIMIT
    while time.monotonic() < end:
        view.require_running()
        require_machine(view)
        if found := ADDRESS.search(view.log.read_text(encoding='utf-8')):
            return found[1]
        time.sleep(0.1)
    raise RuntimeError(f'expected a page within {START_LIMIT:g} s; see {view.log}')


def require_machine(view: NodeProcess) -> None:
    """Raise RuntimeError with the reason where the view refused its machine."""
    if refused := REFUSED.search(view.log.read_text(encoding='utf-8')):
        raise RuntimeError(f'expected a page, got {refused[0]}')
