# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Values of legs and their Jacobians at many poses."""

from liedyn_ros.jit.decorators import long_kernel
from liedyn_ros.jit.kinds import CUBE, MATRIX, VECTOR
from liedyn_ros.lie.kernels.motion import split
from liedyn_ros.stewart.platform.kernels import leg_types, legs


@long_kernel
def values_and_jacobians(table: VECTOR, poses: CUBE, values: MATRIX, jacobians: MATRIX):
    """
    Write the values of k legs at n poses (4 by 4), (n, k), and J (n, 6 k), row by row (14.34).

    Values are NaN where a rod does not reach.
    """
    for n in range(poses.shape[0]):
        r, p = split(poses[n])
        leg_types.value_jacobian(table, r, p, legs.BY_BODY_TWIST, jacobians[n])
        for i in range(values.shape[1]):
            values[n, i] = leg_types.leg_value(table, i, r, p)
