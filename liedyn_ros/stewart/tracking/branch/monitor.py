# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The stage of the branch: which of two poses of the same lengths a platform is in, by its motion.

At a singularity two poses of the same lengths meet, with opposite signs of the determinant. A
solver started from the previous pose can stay on its side when the platform passes through. It
meets the lengths perfectly: neither a residual nor a jump of the pose shows the fault. The motion
shows it: the solver's signed smallest singular value dips to zero and turns back sharply. That of
the platform passes smoothly through zero.
"""

from typing import NamedTuple

from liedyn_ros.stewart.platform.state import PlatformState
from liedyn_ros.stewart.tracking.branch.kernels import branch as kernels


class Branch(NamedTuple):
    """
    The branch of one sample, judged by the motion.

    expected_sign: of the determinant on the branch that the motion leads to. rate: of the signed
    value, filtered, 1/s. prediction_gap: from the predicted to the given pose, along the null
    twist, rad or characteristic lengths. unsure: whether noise leaves both branches
    possible; it stays so until a reset if the motion beyond the singularity does not decide.
    wrong: whether the given pose lies on the other branch than the motion leads to.

    >>> tracked = MonitoredTracker(geometry, home).track(0, leg_lengths(geometry, home))
    >>> tracked.branch.wrong
    False
    """

    expected_sign: int
    rate: float
    prediction_gap: float
    unsure: bool
    wrong: bool


class BranchMonitor:
    """
    Follows the signed singular value through zero and judges every pose by it.

    The measurement is the square of a pose's value, which is the same on both branches. Length
    noise moves it by 2 slope * noise however near the singularity is. It can fall below zero,
    where no pose has the lengths. A bank of filters, one for each of kernels.JERKS, follows value,
    rate and acceleration. Where noise hides the value the filters extrapolate the motion. Beyond,
    the motion is traced back from there. The odds of the branch say whether its value, or the
    opposite one, fits the filters before the singularity.
    """

    def __init__(self) -> None:
        """Start without a pose."""
        self.buffer = kernels.empty_monitor()
        self.reset()

    def reset(self) -> None:
        """Forget the motion: the branch is that of the next pose."""
        kernels.forget_value(self.buffer)

    def confirm(self, state: PlatformState) -> None:
        """Set the branch to that of a pose, which a redundant sensor has confirmed."""
        kernels.confirm_branch(self.buffer, state.determinant_sign)
