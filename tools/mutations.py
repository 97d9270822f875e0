# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Read thousands of spoilt model files: each loads or is refused, and none does anything else.

    python -m tools.mutations                        21 000 URDFs and 3800 YAML files, by readers
    python -m tools.mutations --server               ... through the parameters of a running server
    python -m tools.mutations --urdf 100 --yaml 50 --seed 3
"""

import argparse
from collections import Counter
from collections.abc import Callable
from pathlib import Path
import sys
import tempfile
import traceback

from tools.mutation_cases import cases, read_case


def run(read: Callable[[str, str], str], urdfs: int, yamls: int, seed: int) -> int:
    """Read all cases with progress; print the texts of foreign errors and return their number."""
    counts: Counter[str] = Counter()
    for i, (suffix, text) in enumerate(cases(urdfs, yamls, seed), 1):
        try:
            counts[f'{suffix} {read(suffix, text)}'] += 1
        except Exception:  # what the run is to find
            counts['foreign errors'] += 1
            print(f'\ncase {i} of seed {seed}, {suffix}: {text!r:.2000}\n{traceback.format_exc()}')
        if i % 100 == 0 or i == urdfs + yamls:
            print(f'\r{i} of {urdfs + yamls}: {dict(sorted(counts.items()))}', end='', flush=True)
    print()
    return counts['foreign errors']


def main() -> int:
    """Run and return the exit code: 1 where an error was foreign."""
    parser = argparse.ArgumentParser(description=__doc__.strip().partition('\n')[0])
    parser.add_argument('--urdf', type=int, default=21_000, help='number of URDFs')
    parser.add_argument('--yaml', type=int, default=3800, help='number of YAML files')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--server', action='store_true', help='by the parameters of a server')
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not given.server:
            return int(run(lambda suffix, text: read_case(folder, suffix, text),
                           given.urdf, given.yaml, given.seed) > 0)
        from tools.mutations_server import Server
        with Server(folder) as server:
            return int(run(server.read_case, given.urdf, given.yaml, given.seed) > 0)


if __name__ == '__main__':
    sys.exit(main())
