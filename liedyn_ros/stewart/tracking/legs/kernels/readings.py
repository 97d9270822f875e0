# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What is done with six leg readings before they are solved: their faults, then their motion."""

from liedyn_ros.jit.decorators import kernel
from liedyn_ros.stewart.tracking.legs.kernels import leg_faults, motion_bank

# Where the parts of a row begin: readings in one unit; readings less predictions; readings, those
# of outliers replaced.
READINGS, RESIDUALS, PLAUSIBLE, ROW = 0, 6, 12, 18


@kernel
def take(fault_words, noise_words, filter_words, relative, seconds, stamp_ns, lengths, noise,
         jitter, row, moved):
    """
    Judge six readings and follow their motion; write a row and what motion_bank.follow writes.

    relative: (6,), what turns a reading into the unit in which all are judged. seconds, stamp_ns:
    their time, from the first on and as it is. noise, jitter: as motion_bank.follow is given
    them. Returns what leg_faults.examine and motion_bank.follow return.
    """
    readings, residuals, plausible = (
        row[READINGS:RESIDUALS], row[RESIDUALS:PLAUSIBLE], row[PLAUSIBLE:ROW])
    for i in range(6):
        readings[i] = lengths[i] * relative[i]
    found = leg_faults.examine(
        fault_words, noise_words, seconds, readings, residuals, plausible)
    for i in range(6):
        residuals[i] /= relative[i]
        plausible[i] /= relative[i]
    # An outlier is no motion, replaced or not.
    return found, motion_bank.follow(filter_words, stamp_ns, plausible, noise, jitter, moved)
