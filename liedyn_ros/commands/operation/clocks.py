# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The clocks: resolution, source, synchronization, and whether the time was set meanwhile."""

from collections.abc import Iterator
from pathlib import Path
import shutil
import subprocess
import time

from liedyn_ros.commands.operation.finding import Finding, Severity

PART = 'clocks'
EARLIEST_TIME = 1767225600.0  # s, 2026-01-01: no clock of a robot that runs this can be before
COARSE_RESOLUTION = 1e-4  # s, of resolution
MAX_DRIFT = 1e-3  # s, by which the clocks may drift apart while the doctor looks
SOURCE = Path('/sys/devices/system/clocksource/clocksource0/current_clocksource')
TIMEDATECTL_TIMEOUT = 5.0  # s for timedatectl


def difference() -> float:
    """Return the system's time less the monotonic time, s: constant unless the time is set."""
    return time.time() - time.monotonic()


def findings(before: float) -> Iterator[Finding]:
    """Provide the state of the clocks; before: `difference` some seconds ago."""
    step = difference() - before
    yield Finding(PART, Severity.OK if abs(step) < MAX_DRIFT else Severity.WARN,
                  f'the system time moved {1e3 * step:.2f} ms against the monotonic time',
                  '' if abs(step) < MAX_DRIFT else 'let NTP slew the clock, not step it (chrony)')
    if time.time() < EARLIEST_TIME:
        yield Finding(PART, Severity.ERROR, f'the time is {time.ctime()}', 'set the clock')
    resolution = time.get_clock_info('time').resolution
    source = SOURCE.read_text().strip() if SOURCE.is_file() else 'unknown'
    yield Finding(PART, Severity.OK if resolution < COARSE_RESOLUTION else Severity.WARN,
                  f'resolution {resolution:.0e} s, clock source {source}')
    yield _synchronization()


def _synchronization() -> Finding:
    if shutil.which('timedatectl') is None:
        return Finding(PART, Severity.OK, 'synchronization unknown: no timedatectl')
    try:
        answer = subprocess.run(
            ['timedatectl', 'show', '--property=NTPSynchronized', '--value'],
            capture_output=True, text=True, timeout=TIMEDATECTL_TIMEOUT).stdout.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(PART, Severity.OK, f'synchronization unknown: {error}')
    if answer == 'no':
        return Finding(PART, Severity.WARN, 'the clock is not synchronized',
                       'start chrony or systemd-timesyncd where several computers share stamps')
    return Finding(PART, Severity.OK, f'synchronized: {answer or "unknown"}')
