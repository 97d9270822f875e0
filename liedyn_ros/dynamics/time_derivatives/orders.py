# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""How many time derivatives there are."""

import operator

from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.dynamics.time_derivatives.kernels.series import MAX_ORDER as MAX_ORDER


def require_order(order: int) -> int:
    """Return an order of differentiation, or raise LiedynError or LimitError."""
    if type(order) is int and 0 <= order <= MAX_ORDER:
        return order
    try:
        order = operator.index(order)
    except TypeError as error:
        raise LiedynError(f'order: expected a whole number, got {order!r}') from error
    if not 0 <= order <= MAX_ORDER:
        raise LimitError(f'order: expected 0 to {MAX_ORDER}, got {order}')
    return order
