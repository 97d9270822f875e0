# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The services that rclpy opens for a node, guarded: no request ends the node."""

from collections.abc import Callable, Sequence
from inspect import iscoroutinefunction
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.node import Node
from rclpy.service import Service


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
