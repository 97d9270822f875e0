# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One start of an assembly: from a configuration to the nearest one on the constraints."""

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.kernels.tolerances import (
    CLOSED_CONFIGURATION, STALLED_RESIDUAL)

ITERATIONS = 200  # of one start


def close(constraints: Constraints, q: Array, free: NDArray[np.bool_]
          ) -> tuple[Array, float]:
    """
    Return where Levenberg-Marquardt leads from q, and the largest residual there (12.31).

    free (nv,) are the coordinates that move. Residuals are compared with the sizes of their rows.
    """
    model, damping = constraints.model, 1e-3
    f, rows = _compared(constraints, q)
    cost = f @ f
    for _ in range(ITERATIONS):
        if np.abs(f).max(initial=0.0) <= CLOSED_CONFIGURATION:
            break
        a = rows[:, free]
        normal = a.T @ a
        step = np.zeros(model.nv)
        scale = damping * max(np.diag(normal).max(initial=0.0), 1e-12)
        step[free] = -np.linalg.solve(normal + scale * np.eye(len(normal)), a.T @ f)
        if np.abs(step).max() > np.pi:
            step *= np.pi / np.abs(step).max()
        trial = model.integrate(q, step)
        trial_f, trial_rows = _compared(constraints, trial)
        if trial_f @ trial_f < cost:
            gain = 1.0 - (trial_f @ trial_f) / cost
            q, f, rows, cost = trial, trial_f, trial_rows, trial_f @ trial_f
            damping = max(0.1 * damping, 1e-15)
            if gain < 1e-6 and cost > STALLED_RESIDUAL**2:
                break  # a minimum that is not closed
        else:
            damping *= 10.0
            if damping > 1e8:
                break
    return q, float(np.abs(f).max(initial=0.0))


def _compared(constraints: Constraints, q: Array) -> tuple[Array, Array]:
    """Return residuals (m,) and their derivative (m, nv) over the sizes of the rows."""
    f, rows = constraints.residual_and_jacobian(q)
    return f / constraints.row_sizes, rows / constraints.row_sizes[:, None]
