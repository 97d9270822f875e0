# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Exponential coordinates about a configuration, in which a motion is a curve in (nv,)."""

from liedyn_ros.common.checks import Array
from liedyn_ros.lie import se3, so3
from liedyn_ros.model import Model
from liedyn_ros.model.kernels import kinds


def chart_rate(model: Model, x: Array, v: Array) -> Array:
    """Return the rate of exponential coordinates x (nv,) at a velocity: J_r(x)^-1 v (1.14)."""
    table, result = model.link_table, v.copy()
    for kind, vi in zip(table.kind, table.vi):
        if kind == kinds.SPHERICAL:
            result[vi:vi + 3] = so3.right_jacobian_inverse(x[vi:vi + 3]) @ v[vi:vi + 3]
        elif kind == kinds.FREE:
            result[vi:vi + 6] = se3.right_jacobian_inverse(x[vi:vi + 6]) @ v[vi:vi + 6]
    return result
