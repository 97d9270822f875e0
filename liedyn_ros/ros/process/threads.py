# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Work in a thread that callbacks of the executor await, so that it serves others meanwhile."""

from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from threading import Thread
from typing import Any, Generic, TypeVar

from rcl_interfaces.msg import Parameter
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future as RosFuture

Result = TypeVar('Result')
Prepare = Callable[[Sequence[Parameter]], AbstractAsyncContextManager[None]]
Serve = Callable[[Any, Any], Any]


def start_thread(node: Node, function: Callable[[], Result]) -> Future[Result]:
    """Return the future of a function that runs in a thread."""
    future = Future[Result]()

    def work() -> None:
        try:
            future.set_result(function())
        except Exception as error:  # raised again by its result
            future.set_exception(error)

    Thread(target=work, name=f'{node.get_name()}_work', daemon=True).start()
    return future


async def in_thread(node: Node, function: Callable[[], Result]) -> Future[Result]:
    """Return the future, which is done, of a function that runs in a thread."""
    executor = node.executor
    awaited: Any = RosFuture(executor=executor)

    def wake(_: Future[Result]) -> None:
        awaited.set_result(None)
        executor.wake()  # rclpy looks at what awaits a future when it wakes

    done = start_thread(node, function)
    done.add_done_callback(wake)
    await awaited
    return done


class ReadAhead(Generic[Result]):
    """
    Runs a function of plain values in a thread, before a callback needs its result.

    The function may take long, and may raise LiedynError.
    """

    def __init__(self, node: Node, read: Callable[..., Result]) -> None:
        """Take the node whose executor serves others meanwhile, and the function."""
        self._node, self._read = node, read
        self._done: dict[str, Future[Result]] = {}

    def take(self, *values: Any) -> Result:
        """Return the function's result for some values; read ahead in a thread, or read now."""
        done = self._done.get(repr(values))
        return self._read(*values) if done is None else done.result()

    def begin(self, *values: Any) -> Future[Result] | None:
        """Begin to read for `configure`; return the future, None once that is done."""
        done = self._done.get(repr(values))
        if done is not None and done.done():
            return None
        self._done = {repr(values): done or start_thread(
            self._node, partial(self._read, *values))}
        return self._done[repr(values)]

    def forget(self) -> None:
        """Forget the results."""
        self._done = {}

    @asynccontextmanager
    async def ahead(self, *values: Any) -> AsyncIterator[None]:
        """Read before the block, in which `take` returns it."""
        self._done[repr(values)] = await in_thread(self._node, partial(self._read, *values))
        try:
            yield
        finally:
            self._done.pop(repr(values), None)


def prepare_parameters(node: Node, prepare: Prepare) -> None:
    """
    Let the services that set parameters await `prepare` of these before they judge them.

    They get a callback group of their own: the node's would be blocked while they wait.
    """
    group = ReentrantCallbackGroup()
    for service in node.services:
        serve = {SetParameters: _set_each, SetParametersAtomically: _set_together}.get(
            service.srv_type)
        if serve is not None:
            service.callback = partial(serve, prepare, service.callback)
            service.callback_group = group


async def _set_each(prepare: Prepare, serve: Serve, request: SetParameters.Request,
                    response: SetParameters.Response) -> SetParameters.Response:
    for parameter in request.parameters:
        async with prepare([parameter]):
            serve(SetParameters.Request(parameters=[parameter]), response)
    return response


async def _set_together(prepare: Prepare, serve: Serve, request: SetParametersAtomically.Request,
                        response: Any) -> SetParametersAtomically.Response:
    async with prepare(request.parameters):
        return serve(request, response)
