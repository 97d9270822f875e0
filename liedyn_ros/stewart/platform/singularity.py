# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""When a moving platform comes near a singularity."""

import math


def time_until(signed_value: float, rate: float, threshold: float) -> float:
    """
    Return when the smallest singular value falls to a threshold, in s, at its present rate.

    rate: of the signed value, 1/s. 0 where it is below already, infinite where it rises.
    """
    margin = abs(signed_value) - threshold
    closing = -rate * math.copysign(1.0, signed_value)
    if margin <= 0.0:
        return 0.0
    return margin / closing if closing > 0.0 else math.inf
