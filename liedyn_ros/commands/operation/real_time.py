# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rights and settings for real time; none of them is needed, so nothing here is a warning."""

from collections.abc import Iterator
import os
from pathlib import Path
import platform
import resource

from liedyn_ros.commands.operation.finding import Finding, Severity

PART = 'real time'
PROCESSORS = Path('/sys/devices/system/cpu')
QUOTA = Path('/sys/fs/cgroup/cpu.max')


def findings() -> Iterator[Finding]:
    """Provide the rights of this user and the settings of the kernel."""
    rights = ', '.join(
        f'{name} {_limit(number)}' for name, number in (
            ('rtprio', resource.RLIMIT_RTPRIO), ('memlock', resource.RLIMIT_MEMLOCK)))
    yield Finding(PART, Severity.OK, f'rights: {rights}; user {os.geteuid()}')
    preempts = _read(Path('/sys/kernel/realtime')) == '1' or 'PREEMPT_RT' in platform.version()
    yield Finding(PART, Severity.OK, f'kernel {platform.release()}, PREEMPT_RT '
                  f'{"yes" if preempts else "no"}')
    governors = {_read(path) for path in PROCESSORS.glob('cpu*/cpufreq/scaling_governor')}
    usable = len(os.sched_getaffinity(0))
    yield Finding(PART, Severity.OK, f'{usable} processors, load '
                  f'{" ".join(f"{load:.1f}" for load in os.getloadavg())}, governor '
                  f'{", ".join(sorted(governors)) or "unknown"}, isolated '
                  f'{_read(PROCESSORS / "isolated") or "none"}, quota {_read(QUOTA) or "none"}')


def _limit(number: int) -> str:
    soft, _ = resource.getrlimit(number)
    return 'unlimited' if soft == resource.RLIM_INFINITY else str(soft)


def _read(path: Path) -> str:
    """Return the text of a file of the kernel; empty where there is none."""
    try:
        return path.read_text().strip()
    except OSError:
        return ''
