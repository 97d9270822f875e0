# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Processes of Python that begin where numpy is imported, but nothing of this package.

Each is forked from a server that has imported numpy, scipy and YAML. Its environment, folder,
streams and `sys.argv` are its own, and it ends as any process of Python does. rclpy is not for the
server: it starts threads of LTTng, which a fork loses and the end of a process looks for.
"""

import atexit
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, ExitStack, suppress
from functools import cache
import gc
import json
import os
from pathlib import Path
import runpy
import selectors
import signal
import socket
import subprocess
import sys
from tempfile import TemporaryFile
from threading import Lock
from types import ModuleType
from typing import Any

LONGEST = 100_000  # bytes of a request
TIMEOUT = 1000.0  # s; only a failing test waits that long
LOCK = Lock()  # of the start of the server


class Forked:
    """A running process, with the methods of subprocess.Popen."""

    def __init__(self, line: socket.socket, handle: int, output: Any, errors: Any) -> None:
        """Take what the server says of a process, and the files of its output."""
        self.returncode: int | None = None
        self._line, self._handle, self._files = line, handle, (output, errors)

    @property
    def pid(self) -> int:
        """Return the number of the process, -1 once it has ended."""
        lines = Path(f'/proc/self/fdinfo/{self._handle}').read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith('Pid:')))

    def poll(self) -> int | None:
        """Return the code with which the process has ended, None before."""
        try:
            return self.wait(0)
        except BlockingIOError:
            return None

    def wait(self, timeout: float = TIMEOUT) -> int:
        """Return the code with which the process ends, a signal's number as minus it."""
        if self.returncode is None:
            self._line.settimeout(timeout)  # s; TimeoutError is raised at its end
            try:
                code = self._line.recv(100)
            except TimeoutError:
                raise TimeoutError(f'expected an end within {timeout:g} s, got {self.read()}'
                                   ) from None
            if not code:
                raise RuntimeError('expected the server of processes to run, got its end')
            self.returncode = int(code)
        return self.returncode

    def communicate(self) -> tuple[str, str]:
        """Wait for the end; return the output and the errors."""
        self.wait()
        return self.read()

    def read(self) -> tuple[str, str]:
        """Return the output and the errors until now."""
        texts = []
        for file in self._files:
            size = os.fstat(file.fileno()).st_size
            texts.append(os.pread(file.fileno(), size, 0).decode())
        return texts[0], texts[1]

    def send_signal(self, number: int) -> None:
        """Send a signal, where the process is still there."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._handle, number)

    def close(self) -> None:
        """End the process, and close what belongs to it."""
        self.send_signal(signal.SIGKILL)
        self.wait()
        self._line.close()
        os.close(self._handle)
        for file in self._files:
            file.close()

    def __enter__(self) -> 'Forked':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def start(*words: str, env: Mapping[str, str] | None = None,
          cwd: Path | str | None = None) -> Forked:
    """Start a process by the words after `python`: -c and a program, -m and a module, a script."""
    request = json.dumps([words, dict(os.environ if env is None else env), str(cwd or '.')])
    output, errors = TemporaryFile(), TemporaryFile()
    line, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with LOCK:
        server = _server()
    with far:
        socket.send_fds(server, [request.encode()],
                        [output.fileno(), errors.fileno(), far.fileno()])
    _, handles, *_ = socket.recv_fds(line, 1, 1)
    return Forked(line, handles[0], output, errors)


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Return how a process ended; see `start`."""
    with start(*words, **options) as process:
        output, errors = process.communicate()
        return subprocess.CompletedProcess(words, process.wait(), output, errors)


@contextmanager
def busy() -> Iterator[None]:
    """Keep every processor busy with something else until the block is left."""
    with ExitStack() as stack:
        for _ in range(os.cpu_count() or 1):
            stack.enter_context(start('-c', 'while True: pass'))
        yield


@cache
def _server() -> socket.socket:
    """Return the line to the server, which ends with this process, however that ends."""
    line, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * LONGEST)
    with far:
        server = subprocess.Popen(
            [sys.executable, __file__, str(far.fileno())], pass_fds=[far.fileno()],
            start_new_session=True)

    def end() -> None:
        line.close()
        server.wait()

    atexit.register(end)
    return line


def _main() -> None:
    """Prepare, and serve requests until there is nobody left; a child runs its program."""
    import numpy  # noqa: F401
    import scipy.linalg  # noqa: F401
    import yaml  # noqa: F401

    search_path = sys.path[1 + len(_own_path(os.environ)):]
    control = socket.socket(fileno=int(sys.argv[1]))
    gc.collect()
    gc.freeze()
    program = _serve(control, search_path)
    if program is not None:
        program()


def _serve(control: socket.socket, search_path: list[str]) -> Callable[[], object] | None:
    """Return what a child is to run, in the child; None in the server, at its end."""
    running: dict[int, tuple[int, socket.socket]] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is not control:
                    pid, line = running.pop(key.fd)
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                    with line:
                        _tell(line, code)
                    continue
                request, files, *_ = socket.recv_fds(control, LONGEST, 3)
                if not request:
                    for pid, _ in running.values():
                        os.kill(pid, signal.SIGKILL)
                    return None
                pid = os.fork()
                if not pid:
                    control.close()
                    for number, (_, line) in running.items():
                        os.close(number)
                        line.close()
                    return _prepared(json.loads(request), files, search_path)
                handle, line = os.pidfd_open(pid), socket.socket(fileno=files.pop())
                for file in files:
                    os.close(file)
                socket.send_fds(line, [b'.'], [handle])
                running[handle] = pid, line
                selector.register(handle, selectors.EVENT_READ)


def _own_path(environment: Mapping[str, str]) -> list[str]:
    """Return the folders that an environment lets Python look in first."""
    return [folder for folder in environment.get('PYTHONPATH', '').split(os.pathsep) if folder]


def _tell(line: socket.socket, code: int) -> None:
    """Say how a process has ended, where somebody still wants to know."""
    with suppress(OSError):
        line.send(str(code).encode())


def _prepared(request: Any, files: list[int], search_path: list[str]) -> Callable[[], object]:
    """Make the child what it was asked to be; return what it runs."""
    words, environment, folder = request
    files.insert(0, os.open(os.devnull, os.O_RDONLY))
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
    for file in files:
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    kind, arguments = words[0], words[1:]
    is_script = kind not in ('-c', '-m')
    first = str(Path(kind).resolve().parent) if is_script else '' if kind == '-c' else os.getcwd()
    sys.path[:] = [first, *_own_path(environment), *search_path]
    sys.argv[:] = [kind, *arguments[not is_script:]]
    if kind == '-m':
        return lambda: runpy.run_module(arguments[0], run_name='__main__', alter_sys=True)
    main = sys.modules['__main__'] = ModuleType('__main__')
    text = Path(kind).read_bytes() if is_script else arguments[0]
    return lambda: exec(compile(text, kind if is_script else '<string>', 'exec'), vars(main))


if __name__ == '__main__':
    _main()
