# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What is done with a model that a file describes: dynamics at rest and in motion."""

from fuzz.target import require_finite
import numpy as np

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import Model

MAX_COORDINATES = 200  # of models whose dynamics are computed


def use(model: Model) -> None:
    """Compute the dynamics of a model: finite numbers, or LiedynError."""
    if model.nv > MAX_COORDINATES:
        return
    dynamics, q = Dynamics(model), model.neutral()
    v = np.linspace(-1.0, 1.0, model.nv)
    for rates in (0.0 * v, v):
        try:
            tau = dynamics.inverse(q, rates, v)
            require_finite('inverse dynamics', tau)
            require_finite('forward dynamics', dynamics.forward(q, rates, tau))
        except LiedynError:
            continue
