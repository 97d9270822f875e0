# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The memory of processes, and how it grows."""

from collections.abc import Mapping, Sequence
from pathlib import Path

MAX_GROWTH = 2.0  # MB, of memory after the first minutes
FIRST = 5  # minutes, or a third of a shorter run, in which memory may still grow


def memory(pid: int) -> float:
    """Return the memory that a process holds, MB, without what it shares with other processes."""
    try:
        lines = Path(f'/proc/{pid}/status').read_text().splitlines()
    except FileNotFoundError:
        lines = []
    held = {name: int(value.split()[0]) for name, _, value in (
        line.partition(':') for line in lines if line.startswith(('VmRSS', 'RssShmem')))}
    if 'VmRSS' not in held:
        raise SystemExit(f'process {pid}: expected one that runs, it has ended')
    return (held['VmRSS'] - held['RssShmem']) / 1024.0


def growth(held: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return by how much (MB) each process has grown since the first minutes, 0 if it shrank."""
    first = max(1, min(FIRST, len(held) // 3))
    return {name: max(0.0, max(each[name] for each in held[first - 1:])
                      - max(each[name] for each in held[:first])) for name in held[0]}
