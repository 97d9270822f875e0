# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Limits and surroundings of processes, by what Linux has for that; most need root."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
import os
from pathlib import Path
import shutil
import subprocess

from benchmarks.faults.scene import FOLDER, Stage

CGROUP = Path('/sys/fs/cgroup')
NAME = f'liedyn_faults_{os.getpid()}'
CLOCK = FOLDER / 'clock'
PERIOD = 100_000  # us, of a share of the processors
# Files of a limit in the second version of control groups, and in the first.
LIMITS = {'memory': ('memory.max', 'memory.limit_in_bytes'),
          'cpu': ('cpu.max', 'cpu.cfs_quota_us')}


@contextmanager
def limited(controller: str, limit: int) -> Iterator[Path]:
    """
    Return the control group of a limit, which is empty.

    limit: memory in bytes, or processor time in us of PERIOD.
    """
    second, first = LIMITS[controller]
    old = CGROUP / controller
    group = (old if old.is_dir() else CGROUP) / NAME
    group.mkdir()
    try:
        if old.is_dir():
            (group / first).write_text(str(limit))
        else:
            (group / second).write_text(
                f'{limit} {PERIOD}' if controller == 'cpu' else str(limit))
        yield group
    finally:
        for process in (group / 'cgroup.procs').read_text().split():
            (group.parent / 'cgroup.procs').write_text(process)
        group.rmdir()


def joining(group: Path) -> tuple[str, ...]:
    """Return what stands before a command, so that it is in a control group."""
    return 'sh', '-c', f'echo $$ > {group}/cgroup.procs && exec "$@"', 'sh'


def mounting(mounts: str) -> tuple[str, ...]:
    """Return what stands before a command, which alone sees some mounts."""
    return 'unshare', '--mount', 'sh', '-c', f'{mounts} && exec "$@"', 'sh'


def read_only_home() -> tuple[str, ...]:
    """Return what stands before a command, so that nothing can be written at home."""
    home = Path.home()
    return (*mounting(f'mount --bind {home} {home} && mount -o remount,bind,ro {home}'),
            'env', '-u', 'ROS_LOG_DIR')


def small_disk(folder: Path, full: bool) -> tuple[str, ...]:
    """Return what stands before a command, so that it logs on a disk of 1 MB, or a full one."""
    fill = f'(head -c 2M /dev/zero > {folder}/filling || true) 2> /dev/null' if full else 'true'
    return (*mounting(f'mount -t tmpfs -o size=1M none {folder} && {fill}'),
            'env', f'ROS_LOG_DIR={folder}')


@contextmanager
def two_networks() -> Iterator[Stage]:
    """Return a stage: the node in one network, its partners in another, and a cable."""
    ends = {name: f'192.0.2.{number}/24' for number, name in enumerate(('node', 'rest'), 1)}
    names = {end: f'{NAME}_{end}' for end in ends}
    try:
        for name in names.values():
            _ip('netns', 'add', name)
        _ip('-n', names['node'], 'link', 'add', 'node', 'type', 'veth', 'peer', 'name', 'rest',
            'netns', names['rest'])
        for end, address in ends.items():
            _ip('-n', names[end], 'address', 'add', address, 'dev', end)
            for device in ('lo', end):
                _ip('-n', names[end], 'link', 'set', device, 'up')
        yield Stage(
            *(('ip', 'netns', 'exec', name) for name in names.values()),
            environment={'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4',
                         'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET'})
    finally:
        for name in names.values():
            subprocess.run(['ip', 'netns', 'delete', name], check=False)


def set_cable(up: bool) -> None:
    """Take the cable of the node off, or put it on again."""
    _ip('-n', f'{NAME}_node', 'link', 'set', 'node', 'up' if up else 'down')


@contextmanager
def false_clock() -> Iterator[Stage]:
    """Return a stage whose system clock is set by `set_clock`."""
    CLOCK.parent.mkdir(parents=True, exist_ok=True)
    CLOCK.write_text('+0\n')
    yield Stage(environment={
        'LD_PRELOAD': str(faketime()), 'FAKETIME_TIMESTAMP_FILE': str(CLOCK.absolute()),
        'FAKETIME_CACHE_DURATION': '1', 'FAKETIME_DONT_FAKE_MONOTONIC': '1', 'NO_FAKE_STAT': '1'})


def set_clock(seconds: float) -> None:
    """Set the system clock of such a stage forward, or back."""
    new = CLOCK.with_suffix('.new')
    new.write_text(f'{float(CLOCK.read_text()) + seconds:+g}\n')
    new.rename(CLOCK)


def faketime() -> Path | None:
    """Return the library of requirements/faults.txt that sets a process's clock."""
    spec = find_spec('libfaketime')
    if spec is None or spec.origin is None:
        return None
    library = Path(spec.origin).parent / 'vendor/libfaketime/src/libfaketime.so.1'
    return library if library.is_file() else None


def why_not_root() -> str:
    """Return why rights or commands do not do, or nothing."""
    if os.geteuid():
        return 'expected root'
    missing = [name for name in ('ip', 'unshare', 'mount') if shutil.which(name) is None]
    return f'expected the commands {", ".join(missing)}' if missing else ''


def why_not_limited(controller: str) -> str:
    """Return why a control group cannot be made, or nothing."""
    try:
        with limited(controller, 1 << 30):
            return ''
    except OSError as error:
        return f'expected a control group: {error}'


def why_not_faketime() -> str:
    """Return why the system clock cannot be set for the scene, or nothing."""
    return '' if faketime() else 'expected libfaketime (requirements/faults.txt)'


def _ip(*arguments: str) -> None:
    subprocess.run(['ip', *arguments], check=True)
