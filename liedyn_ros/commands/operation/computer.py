# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Findings of the doctor on the computer: kernels, clocks, rights and settings for real time."""

from collections.abc import Iterator
from enum import IntEnum
import os
from pathlib import Path
import platform
import resource
import shutil
import subprocess
import time
from typing import NamedTuple

from liedyn_ros.jit.rooms import library_of, NotBuiltError, processor_here

CLOCKS = 'clocks'
EARLIEST_TIME = 1767225600.0  # s, 2026-01-01: no clock of a robot that runs this can be before
COARSE_RESOLUTION = 1e-4  # s, of resolution
MAX_DRIFT = 1e-3  # s, by which the clocks may drift apart while the doctor looks
CLOCK_SOURCE = Path('/sys/devices/system/clocksource/clocksource0/current_clocksource')
TIMEDATECTL_TIMEOUT = 5.0  # s for timedatectl
REAL_TIME = 'real time'
PROCESSOR_FOLDER = Path('/sys/devices/system/cpu')
QUOTA = Path('/sys/fs/cgroup/cpu.max')
KERNELS = 'kernels'
ROOMS = 'lie', 'model', 'dynamics', 'loops', 'stewart', 'identification', 'retiming'


class Severity(IntEnum):
    """How bad a finding is; WARN and ERROR are exit codes of the doctor."""

    OK = 0
    WARN = 1
    ERROR = 2


class DoctorLine(NamedTuple):
    """One line of the doctor's page; cure: what to do, empty where nothing need be done."""

    part: str
    level: Severity
    text: str
    cure: str = ''


def clock_difference() -> float:
    """Return the system's time less the monotonic time, s: constant unless the time is set."""
    return time.time() - time.monotonic()


def clock_findings(before: float) -> Iterator[DoctorLine]:
    """Provide the state of the clocks; before: `clock_difference` some seconds ago."""
    step = clock_difference() - before
    yield DoctorLine(CLOCKS, Severity.OK if abs(step) < MAX_DRIFT else Severity.WARN,
                     f'the system time moved {1e3 * step:.2f} ms against the monotonic time',
                     '' if abs(step) < MAX_DRIFT
                     else 'let NTP slew the clock, not step it (chrony)')
    if time.time() < EARLIEST_TIME:
        yield DoctorLine(CLOCKS, Severity.ERROR, f'the time is {time.ctime()}', 'set the clock')
    resolution = time.get_clock_info('time').resolution
    source = CLOCK_SOURCE.read_text().strip() if CLOCK_SOURCE.is_file() else 'unknown'
    yield DoctorLine(CLOCKS, Severity.OK if resolution < COARSE_RESOLUTION else Severity.WARN,
                     f'resolution {resolution:.0e} s, clock source {source}')
    yield _synchronization()


def _synchronization() -> DoctorLine:
    if shutil.which('timedatectl') is None:
        return DoctorLine(CLOCKS, Severity.OK, 'synchronization unknown: no timedatectl')
    try:
        answer = subprocess.run(
            ['timedatectl', 'show', '--property=NTPSynchronized', '--value'],
            capture_output=True, text=True, timeout=TIMEDATECTL_TIMEOUT).stdout.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        return DoctorLine(CLOCKS, Severity.OK, f'synchronization unknown: {error}')
    if answer == 'no':
        return DoctorLine(CLOCKS, Severity.WARN, 'the clock is not synchronized',
                          'start chrony or systemd-timesyncd where several computers share stamps')
    return DoctorLine(CLOCKS, Severity.OK, f'synchronized: {answer or "unknown"}')


def real_time_findings() -> Iterator[DoctorLine]:
    """Provide rights and settings for real time; none is needed, so none is a warning."""
    rights = ', '.join(
        f'{name} {_limit(number)}' for name, number in (
            ('rtprio', resource.RLIMIT_RTPRIO), ('memlock', resource.RLIMIT_MEMLOCK)))
    yield DoctorLine(REAL_TIME, Severity.OK, f'rights: {rights}; user {os.geteuid()}')
    preempts = _read(Path('/sys/kernel/realtime')) == '1' or 'PREEMPT_RT' in platform.version()
    yield DoctorLine(REAL_TIME, Severity.OK, f'kernel {platform.release()}, PREEMPT_RT '
                     f'{"yes" if preempts else "no"}')
    governors = {_read(path) for path in PROCESSOR_FOLDER.glob('cpu*/cpufreq/scaling_governor')}
    usable = len(os.sched_getaffinity(0))
    yield DoctorLine(REAL_TIME, Severity.OK, f'{usable} processors, load '
                     f'{" ".join(f"{load:.1f}" for load in os.getloadavg())}, governor '
                     f'{", ".join(sorted(governors)) or "unknown"}, isolated '
                     f'{_read(PROCESSOR_FOLDER / "isolated") or "none"}, quota '
                     f'{_read(QUOTA) or "none"}')


def _limit(number: int) -> str:
    soft, _ = resource.getrlimit(number)
    return 'unlimited' if soft == resource.RLIM_INFINITY else str(soft)


def _read(path: Path) -> str:
    """Return the text of a file of the kernel; empty where there is none."""
    try:
        return path.read_text().strip()
    except OSError:
        return ''


def kernel_findings() -> Iterator[DoctorLine]:
    """Provide the state of the compiled kernels that the package was built with."""
    try:
        found = [library_of(room) for room in ROOMS]
    except NotBuiltError as error:
        yield DoctorLine(KERNELS, Severity.ERROR, str(error), 'build or install the package again')
        return
    size = sum(path.stat().st_size for path in found)
    yield DoctorLine(KERNELS, Severity.OK, f'{len(found)} libraries for {found[0].parent.name}, '
                     f'{1e-6 * size:.0f} MB; this processor is {processor_here()}')
