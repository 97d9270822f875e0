# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Answers of services, which name their faults."""

from collections.abc import Callable
import traceback
from typing import Any

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.ros.node.lifecycle import INTERNAL_FAULT, ManagedNode

Fill = Callable[[Any, Any], object]


def answer(node: ManagedNode, fill: Fill, request: Any, response: Any) -> Any:
    """Return the response: filled in and a success, or with the reason why not."""
    try:
        fill(request, response)
        response.success = True
    except LiedynError as error:
        response.message = str(error)
    except Exception as error:  # a fault of this package, which must not end the node
        node.complain(traceback.format_exc(), INTERNAL_FAULT)
        response.message = f'internal fault: {error!r}'
    return response
