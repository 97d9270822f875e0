# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Random configurations to start from: the same for a number in every process.

The generator is that of Park and Miller (Communications of the ACM 31, 1988): x = 16807 x modulo
2^31 - 1.
"""

import math

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.model.kernels.kinds import NQ_OF_KIND, NV_OF_KIND, PRISMATIC, SPHERICAL

NUMBER_MULTIPLIER, MODULUS, SEED_MULTIPLIER, SKIPPED = 16807, 2147483647, 48271, 4


@kernel
def next_number(x):
    """Return the next state of the generator."""
    return NUMBER_MULTIPLIER * x % MODULUS


@kernel
def write_random(machine, held, lower, upper, number, q):
    """
    Write a configuration as Model.random does, but for links with a coordinate that is held.

    held (nv,) is 1 there; lower and upper (nv,) are position limits.
    """
    x = 1 + SEED_MULTIPLIER * (number % MODULUS) % (MODULUS - 1)
    for _ in range(SKIPPED):
        x = next_number(x)
    for i in range(len(machine.kind)):
        kind, at, step = machine.kind[i], machine.qi[i], machine.vi[i]
        stays = False
        for k in range(NV_OF_KIND[kind]):
            stays = stays or held[step + k] != 0
        for k in range(0 if stays else NQ_OF_KIND[kind]):
            x = next_number(x)
            q[at + k] = 2.0 * x / MODULUS - 1.0
        if not stays and kind < SPHERICAL:
            q[at] = position_within(kind, lower[step], upper[step], q[at])
        elif not stays:
            x = write_rotation(q, at + NQ_OF_KIND[kind] - 4, x)
    return x


@kernel
def position_within(kind, lower, upper, share):
    """Return the position of a coordinate within its limits, for a share from -1 to 1."""
    reach = 1.0 if kind == PRISMATIC else math.pi
    low, high = lower, upper
    if low == -math.inf:
        low = min(-reach, high - reach)
    if high == math.inf:
        high = max(reach, low + reach)
    return low + 0.5 * (1.0 + share) * (high - low)


@kernel
def write_rotation(q, at, x):
    """Write a unit quaternion, uniform by rejection; return the state of the generator."""
    square = 2.0
    while not 1e-3 < square <= 1.0:
        square = 0.0
        for k in range(4):
            x = next_number(x)
            q[at + k] = 2.0 * x / MODULUS - 1.0
            square += q[at + k] * q[at + k]
    for k in range(4):
        q[at + k] /= square ** 0.5
    return x
