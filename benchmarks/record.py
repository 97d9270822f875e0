# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Figures kept as JSON, with what they were measured on, and results part by part."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone
from importlib.metadata import version
import json
import os
from pathlib import Path
import platform
import subprocess
import sys
import time
from typing import Any

import numpy as np

from liedyn_ros.commands.work import results_of

FOLDER = Path('out/bench')


def keep(name: str, figures: dict[str, Any]) -> Path:
    """Write figures and where they come from under out/bench, and return the path."""
    path = FOLDER / f'{name}.json'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({'measured': origin(), **figures}, indent=1) + '\n')
    return path


def resumed(name: str, function: Callable[[Any], Any], parts: Sequence[Any],
            jobs: int) -> Iterator[tuple[int, Any]]:
    """
    Yield index and result, as JSON has it, of each part, and keep each as it is done.

    Those that this commit has kept before are not done again. Tells of k of n, and the time left.
    """
    commit = _commit()
    path = FOLDER / f'{name}_{commit}.jsonl'
    path.parent.mkdir(parents=True, exist_ok=True)
    if commit.endswith('-dirty'):
        path.unlink(missing_ok=True)
    lines = path.read_text().splitlines() if path.exists() else []
    known = dict(json.loads(line) for line in lines)
    left = [k for k, part in enumerate(parts) if repr(part) not in known]
    yield from ((k, known[repr(part)]) for k, part in enumerate(parts) if repr(part) in known)
    began = said = time.monotonic()
    with path.open('a') as file:
        for done, (i, result) in enumerate(results_of(
                function, [parts[k] for k in left], jobs=jobs), 1):
            line = json.dumps([repr(parts[left[i]]), result], default=float)
            file.write(f'{line}\n')
            file.flush()
            yield left[i], json.loads(line)[1]
            if (now := time.monotonic()) - said > 10.0 or done == len(left):
                said = now
                print(f'  {len(parts) - len(left) + done} of {len(parts)}, '
                      f'{(now - began) / done * (len(left) - done):.0f} s left',
                      file=sys.stderr, flush=True)


def origin() -> dict[str, Any]:
    """Return when, with which code and on which machine figures are measured."""
    return {'date': datetime.now(timezone.utc).isoformat(timespec='seconds'), 'commit': _commit(),
            'python': platform.python_version(), 'numba': version('numba'),
            'numpy': np.__version__, 'processor': _processor(), 'cores': os.cpu_count(),
            'load': os.getloadavg(), 'nice': os.nice(0)}


def distro() -> str:
    """Return the release of ROS 2, as tools/env.sh chooses it."""
    return os.environ.get('ROS_DISTRO') or os.environ.get('DISTRO') or 'kilted'


def verdict(value: float, target: float | None) -> str:
    """Return whether a figure keeps to its target, for a table."""
    if target is None:
        return ''
    return f'<= {target:g} ' + ('yes' if value <= target else 'NO')


def _commit() -> str:
    """Return the commit of the work tree, marked where files differ from it."""
    done = subprocess.run(
        ['git', 'describe', '--always', '--dirty'], cwd=Path(__file__).parent,
        capture_output=True, text=True, check=False)
    return done.stdout.strip() or 'unknown'


def _processor() -> str:
    """Return the processor's name as Linux has it, or its architecture."""
    try:
        lines = Path('/proc/cpuinfo').read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(':')[2].strip() for line in lines if line.startswith('model name')]
    return names[0] if names else platform.machine()
