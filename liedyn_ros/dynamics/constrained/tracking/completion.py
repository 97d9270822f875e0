# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Accelerations of all coordinates from those of some."""

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ModelError
from liedyn_ros.dynamics.constrained.configurations.assembly import complete_velocity
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.solver.solution import ConstraintStatus
from liedyn_ros.dynamics.tree.inputs import mask


def complete_acceleration(dynamics: ConstrainedDynamics, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                          known: ArrayLike | None = None) -> Array:
    """
    Return a whose known coordinates stay and whose others follow, with derivatives if a has them.

    a is (nv,) or (order + 1, nv); known are the actuated coordinates where it is left out. Raises
    what complete_velocity raises.
    """
    model = dynamics.model
    given = model.actuated if known is None else mask('known', known, model.nv)
    complete_velocity(dynamics, q, v, given)
    a = np.where(given, a, 0.0)
    result = dynamics.hybrid(q, v, given, a, np.zeros_like(a))
    if result.status is ConstraintStatus.INCONSISTENT:
        raise ModelError('a: expected known accelerations that the loops allow, got others')
    return result.a
