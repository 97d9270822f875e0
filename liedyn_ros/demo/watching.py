# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A page that shows a demo live while it runs, and is left as one HTML file when it has ended."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotDoneError
from contextlib import contextmanager, ExitStack
from importlib.util import find_spec
from pathlib import Path
import re
import time
from types import TracebackType
from typing import Any

from liedyn_ros.common.extras import remedy_of
from liedyn_ros.demo.processes import NodeProcess
from liedyn_ros.demo.verdict import NotShownError

WATCHING_RATE = 15.0  # Hz, of pictures: the nodes of the demo need the processor more
ADDRESS = re.compile(r'the view is on (\S+)')
REFUSAL = re.compile('not configured: .*')
PAGE_START_LIMIT = 600.0  # s for a page to open
WRITE_TIMEOUT = 120.0  # s that the page has to be written, on a busy machine
NICENESS = 10  # the nodes go first


class Pages:
    """
    The pages of demos; a context manager that waits until all are written.

    Nobody waits for a page to open, or for the file that it leaves while the next demo begins.
    """

    def __init__(self, folder: Path) -> None:
        """Take the folder of the files."""
        self._folder, self._stack, self._pool = folder, ExitStack(), ThreadPoolExecutor()
        self._written: list[Path] = []

    @contextmanager
    def watch(self, name: str, **parameters: Any) -> Iterator[None]:
        """Show a machine on a page while a demo runs, and write NAME.html."""
        if find_spec('viser') is None:
            print(f'\nNo live page: {remedy_of("view")}')
            yield
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f'{name}.html'
        view = self._stack.enter_context(NodeProcess(
            'liedyn_ros.view', {'recording': file.absolute(), 'rate': WATCHING_RATE, **parameters},
            self._folder / f'{name}_view.log', WRITE_TIMEOUT, NICENESS))
        answer = self._pool.submit(_tell, view)
        yield
        try:  # a page is worth no verdict
            answer.result(0.0)
            require_machine(view)  # the page is there before its machine
            self._written.append(file)
        except NotDoneError:
            print(f'\nNo live page: this machine was too busy for it; see {view.log}')
        except NotShownError as error:
            print(f'\nNo live page: {error}')
        view.ask_to_end()

    def __enter__(self) -> 'Pages':
        """Return the pages."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Wait for the files and name them."""
        self._stack.close()
        self._pool.shutdown()
        for file in filter(Path.is_file, self._written):
            print(f'\n{file} plays it again in any browser, without a network')


def _tell(view: NodeProcess) -> None:
    print(f'\nWatch it live: {address_of(view)}', flush=True)


def address_of(view: NodeProcess) -> str:
    """Return where the page is, once it is; raise NotShownError where none comes."""
    end = time.monotonic() + PAGE_START_LIMIT
    while time.monotonic() < end:
        view.require_running()
        require_machine(view)
        if found := ADDRESS.search(view.log.read_text(encoding='utf-8')):
            return found[1]
        time.sleep(0.1)
    raise NotShownError(f'expected a page within {PAGE_START_LIMIT:g} s; see {view.log}')


def require_machine(view: NodeProcess) -> None:
    """Raise NotShownError with the reason where the view refused its machine."""
    if refused := REFUSAL.search(view.log.read_text(encoding='utf-8')):
        raise NotShownError(f'expected a page, got {refused[0]}')
