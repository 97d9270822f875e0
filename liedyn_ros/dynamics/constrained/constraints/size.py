# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The size of a machine."""

import numpy as np

from liedyn_ros.model import Model


def machine_size(model: Model) -> float:
    """
    Return the sum of the distances of joints, closures and centres of mass (m), 1 without any.

    It is a length to compare distances with, and no less than the reach of the machine.
    """
    table = model.link_table
    massive = table.inertia[:, 0] > 0.0
    lengths = [*np.linalg.norm(table.placement[:, 9:], axis=1),
               *np.linalg.norm(table.inertia[massive, 1:4], axis=1) / table.inertia[massive, 0],
               *(np.linalg.norm(frame[:3, 3]) for closure in model.closures
                 for frame in (closure.frame_a, closure.frame_b)),
               *(closure.length for closure in model.closures)]
    return float(sum(lengths)) or 1.0
