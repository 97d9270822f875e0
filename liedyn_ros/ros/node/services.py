# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Services: errors and finite numbers in responses; those that rclpy opens, guarded."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from inspect import iscoroutinefunction
from math import isfinite
import re
from typing import Any, NamedTuple

from liedyn_interfaces.srv import DescribeModel
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.node import Node
from rclpy.service import Service

from liedyn_ros.common.errors import bounded, LimitError

UNLIMITED = {  # fields that are infinite where there is no limit
    DescribeModel.Response: ('position_lower', 'position_upper', 'velocity_limit', 'effort_limit')}
COPIED = ('header', 'request_id')  # from the request
_KIND = re.compile(r'[,>\[]')  # ends the type of the entries in that of a field


def refuse(response: Any, message: str) -> None:
    """
    Write an error into a response and the messages that it holds.

    Each of them that has `success` or `message` gets False or the text; others stay as they are.
    """
    message = bounded(message)
    fields = response.get_fields_and_field_types()
    for part in (response, *(getattr(response, name) for name in fields)):
        if hasattr(part, 'success'):
            part.success = False
        if hasattr(part, 'message'):
            part.message = message


def require_finite_numbers(response: Any) -> None:
    """Raise LimitError, and empty the response, where one of its numbers is not finite."""
    if field := not_finite(response):
        withdraw(response)
        raise LimitError(f'{field}: expected numbers whose results are finite, got others')


def withdraw(response: Any) -> None:
    """Empty a response, but for what it copies from the request."""
    blank = type(response)()
    for name in response.get_fields_and_field_types():
        part = getattr(response, name)
        if hasattr(part, 'success'):
            withdraw(part)
        elif name not in COPIED:
            setattr(response, name, getattr(blank, name))


def not_finite(message: Any) -> str:
    """Return the field of the first NaN or infinity in a message, or nothing."""
    message_type: Any = type(message)
    numbers, arrays, parts, lists = _fields(message_type)
    for name in numbers:
        if not isfinite(getattr(message, name)):
            return name
    for name in arrays:
        if not _all_finite(getattr(message, name)):
            return name
    for name in parts:
        if found := not_finite(getattr(message, name)):
            return f'{name}.{found}'
    for name in lists:
        for i, part in enumerate(getattr(message, name)):
            if found := not_finite(part):
                return f'{name}[{i}].{found}'
    return ''


def _all_finite(numbers: Sequence[float]) -> bool:
    return isfinite(sum(numbers)) or all(map(isfinite, numbers))


class _Fields(NamedTuple):
    """The fields of a message that hold numbers: themselves, in arrays, in messages, in lists."""

    numbers: tuple[str, ...]
    arrays: tuple[str, ...]
    parts: tuple[str, ...]
    lists: tuple[str, ...]


@cache
def _fields(message_type: Any) -> _Fields:
    found: dict[tuple[bool, bool], list[str]] = {
        (whole, several): [] for whole in (False, True) for several in (False, True)}
    for name, whole, several in _with_numbers(message_type):
        found[whole, several].append(name)
    return _Fields(*(tuple(found[key]) for key in (
        (False, False), (False, True), (True, False), (True, True))))


def _with_numbers(message_type: Any) -> Iterator[tuple[str, bool, bool]]:
    """Return each field with numbers, whether it is of messages, and whether of several."""
    for name, text in message_type.get_fields_and_field_types().items():
        kind, several = _KIND.split(text.removeprefix('sequence<'))[0], text[-1] in '>]'
        if name in UNLIMITED.get(message_type, ()):
            continue
        if kind in ('double', 'float'):
            yield name, False, several
        elif '/' in kind:
            package, part = kind.split('/')
            if any(_fields(getattr(import_module(f'{package}.msg'), part))):
                yield name, True, several


def guard(node: Node, services: Sequence[Service],
          complain: Callable[[str, str], object]) -> None:
    """
    Let services answer requests that rclpy raises an error about, such as an unknown type.

    Otherwise the error leaves the executor, and the process ends. complain: takes the error
    and its kind.
    """
    for service in services:
        service.callback = _guarded(node, service, complain)


def _guarded(node: Node, service: Service, complain: Callable[[str, str], object]) -> Any:
    callback: Any = service.callback

    def refused(request: Any, error: Exception) -> Any:
        if not node.context.handle.ok():  # nobody waits for the response any more
            raise error
        reason = f'{service.srv_name}: expected a request that rclpy can serve, got {error!r}'
        complain(reason, 'request of rclpy')
        return _refusal(service.srv_type, request, reason)

    async def wait(request: Any, response: Any) -> Any:
        try:
            return await callback(request, response)
        except Exception as error:  # of rclpy, which must not end the node
            return refused(request, error)

    def serve(request: Any, response: Any) -> Any:
        try:
            return callback(request, response)
        except Exception as error:  # of rclpy, which must not end the node
            return refused(request, error)

    return wait if iscoroutinefunction(callback) else serve


def _refusal(service_type: Any, request: Any, reason: str) -> Any:
    """Return a response that refuses; that of a service without a place for it is empty."""
    result = SetParametersResult(successful=False, reason=reason)
    if service_type is SetParameters:
        return SetParameters.Response(results=[result for _ in request.parameters])
    if service_type is SetParametersAtomically:
        return SetParametersAtomically.Response(result=result)
    return service_type.Response()
