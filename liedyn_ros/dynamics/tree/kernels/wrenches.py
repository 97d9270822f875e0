# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The wrenches that the environment applies to bodies."""

from liedyn_ros.dynamics.tree.kernels.tables import (
    add3, BODIES, body_row, CARRIER, load12, load3, PLACEMENT)
from liedyn_ros.jit.decorators import inlined
from liedyn_ros.jit.simd import get_int
from liedyn_ros.lie.kernels import se3, vec3
from liedyn_ros.model.kernels.acceptance import finite


@inlined
def fits_bodies(model, external):
    """Return whether there are finite wrenches (B, 6) on all bodies, or none (0, 6)."""
    if len(external) == 0:
        return True
    return (len(external) == get_int(model, 0, BODIES) and external.shape[1] == 6
            and finite(external))


@inlined
def on_link(model, b, external):
    """Return the wrench on body b in the frame of the link that carries it (1.5)."""
    row = body_row(model, b)
    r, p = load12(model, row, PLACEMENT)
    return se3.adjoint_inverse_dual(r, p, load3(external, b, 0), load3(external, b, 3))


@inlined
def subtract_external(model, data, external, column):
    """Subtract wrenches on bodies from those in six columns of the links that carry them (3.4)."""
    for b in range(len(external)):
        link = get_int(model, body_row(model, b), CARRIER)
        if link > 0:
            m, f = on_link(model, b, external)
            add3(data, link, column, vec3.neg(m))
            add3(data, link, column + 3, vec3.neg(f))
