# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Who may reach the page, and what a browser may send it.

viser lets every site that a browser has open read the scene, and every reader share it with its
makers' server. It has no option against that, so the server of the package websockets, which it
opens, is put behind a gate while it does so. And what it draws in one thread wakes what it sends
in another, by an event that bears that only while no browser comes or goes.
"""

from __future__ import annotations

from asyncio import Event, get_running_loop, sleep
from collections.abc import Awaitable, Callable
from contextlib import suppress
from hmac import compare_digest
from http import HTTPStatus
from ipaddress import ip_address
import logging
import math
import secrets
import socket
import sys
from threading import Lock
import time
from typing import Any
from urllib.parse import urlsplit

import msgspec
import rich
import viser
from viser.infra import _infra
from websockets.asyncio.server import serve, ServerConnection
from websockets.datastructures import MultipleValuesError
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.protocol import State

from liedyn_ros.common.errors import LiedynError, spelled

MAX_BROWSERS = 32  # that look at a time
MAX_SILENT = 64  # connections that have not asked for anything yet; each may take 10 s
MAX_MESSAGE_BYTES = 64 * 1024  # bytes that a browser sends at once; a camera has some 300
MAX_RATE = 500.0  # Hz, of the messages of one browser, the others of which wait
MAX_MESSAGE_VALUES, MAX_TEXT = 16, 256  # numbers, and characters, of a message
LOG_PERIOD = 1.0  # s; faults of connections are logged once in that time
ACCEPTED_FIELDS = {  # of what a browser may send, by type; all else is passed over
    'ViewerCameraMessage', 'GuiUpdateMessage', 'TransformControlsUpdateMessage',
    'TransformControlsDragStartMessage', 'TransformControlsDragEndMessage', 'FileTransferPartAck'}
TOKEN = secrets.token_urlsafe(16)  # of this process: a browser comes back after a clean-up
HEADERS = {  # even a text that became markup asks nobody else, and no address tells the token
    'Content-Security-Policy': (
        "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval' data: "
        "blob:; style-src 'self' 'unsafe-inline'; connect-src 'self' data: blob: {}; "
        "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    'Referrer-Policy': 'no-referrer', 'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store'}
LOGGER = logging.getLogger(__name__)
_OPENING = Lock()

Process = Callable[[Any, Request], Response | None]


def open_server(address: str, port: int, label: str) -> viser.ViserServer:
    """
    Return a server behind a gate, on a port or the next that is free.

    Raises OSError for an address that this computer lacks.
    """
    family = socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)[0][0]
    socket.create_server((address, 0), family=family).close()  # viser would wait without end
    gate = Gate(address)
    console = rich.get_console()
    with _OPENING:
        library = _infra.websockets
        _infra.websockets = _With(library, asyncio=_With(library.asyncio, server=_With(
            library.asyncio.server, serve=gate.serve)))
        try:
            console.quiet = True  # viser's banner has an address without the token
            server = viser.ViserServer(host=address, port=port, label=label, verbose=False)
        finally:
            console.quiet = False
            _infra.websockets = library
    if not gate.stands:
        server.stop()
        raise LiedynError(f'viser {viser.__version__}: expected a server behind a gate, got one '
                          'that is open to every site; install the version of requirements')
    return server


class _Woken(Event):
    """An event that other threads leave alone: behind each call viser asks its own to set it."""

    def set(self) -> None:  # noqa: A003: asyncio's name
        """Wake the waiting tasks, within the thread of the server."""
        with suppress(RuntimeError):
            get_running_loop()
            super().set()


class _Messages(_infra.AsyncMessageBuffer):
    """The messages to browsers."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.message_event = _Woken()


_infra.AsyncMessageBuffer = _Messages


class _With:
    """A module with other members in place of its own."""

    def __init__(self, module: Any, **members: Any) -> None:
        vars(self).update(members, _module=module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


class Gate:
    """
    Gate for those who know the token, by an address of this computer and from no other site.

    stands: whether a server was opened behind it.
    """

    def __init__(self, address: str) -> None:
        """Take the address that is served, whose name a browser may use."""
        self.stands = False
        name = socket.gethostname().lower()
        self._names = {'localhost', name, f'{name}.local', address.lower()}
        with suppress(OSError):
            self._names.add(socket.getfqdn().lower())
        self._browsers = 0
        self._logger = _Quiet(LOGGER)

    def serve(self, handler: Callable[[Any], Awaitable[None]], host: str, port: int, *,
              process_request: Process, **options: Any) -> Any:
        """Open the server of the package websockets, whose handler and pages are behind it."""
        self.stands = True

        async def handle(connection: Any) -> None:
            get_running_loop().set_exception_handler(lambda _, found: self._logger.tell(
                found.get('exception') or found['message']))
            self._browsers += 1
            try:
                await handler(_Bounded(connection, self._logger))
            except ConnectionClosed:
                pass
            except Exception as error:  # viser takes frames as they come
                self._logger.tell(error)
            finally:
                self._browsers -= 1

        def process(connection: Any, request: Request) -> Response | None:
            try:
                return self._judge(connection, request) or _with_headers(
                    process_request(connection, request), request)
            except (MultipleValuesError, OSError, ValueError):
                return _refused(connection, HTTPStatus.BAD_REQUEST,
                                'expected each header once, and a path that a file may have')
        return serve(handle, host, port, process_request=process, **{
            **options, 'max_size': MAX_MESSAGE_BYTES, 'logger': self._logger,
            'create_connection': _Connection})

    def _judge(self, connection: Any, request: Request) -> Response | None:
        """Return why a request is refused, and take the token from its path otherwise."""
        host, origin = request.headers.get('Host', ''), request.headers.get('Origin')
        if not self._is_own(host):
            return _refused(connection, HTTPStatus.FORBIDDEN,
                            'Host: expected an address or the name of this computer')
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return _refused(connection, HTTPStatus.FORBIDDEN,
                            'Origin: expected the page itself')
        path, _, _ = request.path.partition('?')
        _, token, *rest = f'{path}/'.split('/')
        if not compare_digest(token.encode(), TOKEN.encode()):
            return _refused(connection, HTTPStatus.FORBIDDEN,
                            'expected the whole address, with its token: it is in the terminal '
                            "of the view, in the line 'the view is on http...'")
        if 'Upgrade' in request.headers and self._browsers >= MAX_BROWSERS:
            return _refused(connection, HTTPStatus.SERVICE_UNAVAILABLE,
                            f'expected at most {MAX_BROWSERS} browsers')
        request.path = '/' + '/'.join(rest).strip('/')
        return None

    def _is_own(self, host: str) -> bool:
        """Return whether a header Host names this computer: no site can make its name one."""
        try:
            name = (urlsplit(f'//{host}').hostname or '').rstrip('.')
        except ValueError:
            return False
        try:
            return bool(ip_address(name))
        except ValueError:
            return name in self._names


def _refused(connection: Any, status: HTTPStatus, reason: str) -> Response:
    response: Response = connection.respond(status, f'{reason}\n')
    return response


def _with_headers(response: Response | None, request: Request) -> Response | None:
    if response is not None:
        host = request.headers.get('Host', '')
        for name, value in HEADERS.items():
            response.headers[name] = value.format(f'ws://{host} wss://{host}')
    return response


class _Connection(ServerConnection):
    """A connection for which the oldest silent one gives way, where these are many."""

    def connection_made(self, transport: Any) -> None:
        """Take a connection."""
        super().connection_made(transport)
        silent = [each for each in self.server.handlers
                  if each.state is State.CONNECTING and not each.transport.is_closing()]
        if len(silent) > MAX_SILENT:
            silent[0].transport.abort()


class _Bounded:
    """A connection that yields messages of ACCEPTED_FIELDS alone, with bounded finite values."""

    def __init__(self, connection: Any, logger: _Quiet) -> None:
        self._connection, self._logger, self._due = connection, logger, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def recv(self) -> bytes:
        """Return the next message; raise LiedynError for bytes that are none."""
        while True:
            data = await self._connection.recv()
            self._due = max(self._due, time.monotonic() - 1.0) + 1.0 / MAX_RATE
            await sleep(max(self._due - time.monotonic(), 0.0))
            if is_taken(data):
                return bytes(data)


def is_taken(data: str | bytes) -> bool:
    """Return whether a message goes to viser; raise LiedynError where it is none of it."""
    try:
        message = msgspec.msgpack.decode(data) if isinstance(data, bytes) else None
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise LiedynError(f'a frame of a browser: expected a message of viser, got {error}'
                          ) from error
    if not isinstance(message, dict) or not isinstance(message.get('type'), str):
        raise LiedynError('a frame of a browser: expected a message of viser, got another')
    if message['type'] not in ACCEPTED_FIELDS:
        return False
    updates = message.get('updates', {})
    return (isinstance(updates, dict) and set(updates) <= {'value'}
            and all(_is_value(each) for each in (*message.values(), *updates.values())
                    if each is not updates))


def _is_value(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return len(value) <= MAX_MESSAGE_VALUES and all(
            isinstance(each, (bool, int, float)) and _is_value(each) for each in value)
    if isinstance(value, str):
        return len(value) <= MAX_TEXT
    return value is None or (isinstance(value, (bool, int, float)) and math.isfinite(value))


class _Quiet(logging.LoggerAdapter):  # type: ignore[type-arg]  # no subscript before 3.11
    """Logs faults of connections, one line in a period, and how many there were."""

    def __init__(self, logger: logging.Logger) -> None:
        super().__init__(logger, {})
        self._until, self._left_out = 0.0, 0

    def log(self, level: int, msg: object, *args: Any, exc_info: Any = None, **_: Any) -> None:
        """Log a line of the package websockets without its error's; none of one that left."""
        error = exc_info if isinstance(exc_info, BaseException) else (
            sys.exc_info()[1] if exc_info else None)
        left = error is not None and isinstance(error.__cause__ or error, (EOFError, OSError))
        if level >= logging.WARNING and not left:
            self.tell(f'{msg}: {error}' if error is not None else msg)

    def addFilter(self, _: Any) -> None:
        """Take no filter: viser has one of these lines, for its own log."""

    def tell(self, fault: object) -> None:
        """Log a fault, or count it."""
        now = time.monotonic()
        if now < self._until:
            self._left_out += 1
            return
        self._until = now + LOG_PERIOD
        more = f'; {self._left_out} more since the last' if self._left_out else ''
        self._left_out = 0
        text = f'{type(fault).__name__}: {fault}' if isinstance(fault, BaseException) else fault
        self.logger.warning('the page: %s%s', spelled(str(text))[:300], more)
