# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The two engines: coverage-guided by atheris, or changed good inputs by hypothesis."""

from collections.abc import Callable
import faulthandler
from importlib.util import find_spec
import io
from pathlib import Path
import resource
import sys
import time

import liedyn_ros

ENGINES = 'atheris', 'hypothesis'
INSTRUMENTED = ['liedyn_ros', 'yaml']
MAX_SECONDS = 60  # of one input
MAX_MEMORY = 3000  # MB, of the process
MAX_SIZE = 16384  # bytes of an input
BATCH = 200  # examples of hypothesis between two looks at the clock
FOUND = 77  # the exit code for a finding, as that of libFuzzer


def best() -> str:
    """Return the engine that is installed: hypothesis where atheris is not."""
    return ENGINES[find_spec('atheris') is None]


def instrument(load: Callable[[], object]) -> None:
    """
    Let atheris see which branches run of what a function imports first.

    Kernels are left out, and what makes them: numba compiles their bytecode, and the cache knows
    their sources alone.
    """
    import atheris
    folder = Path(liedyn_ros.__path__[0])
    modules = ['.'.join(path.relative_to(folder.parent).with_suffix('').parts).removesuffix(
        '.__init__') for path in folder.rglob('*.py')]
    left_out = [name for name in modules
                if name.startswith('liedyn_ros.jit') or '.kernels' in name]
    shown, sys.stderr = sys.stderr, io.StringIO()  # a line for each module
    try:
        with atheris.instrument_imports(include=INSTRUMENTED, exclude=left_out):
            load()
    finally:
        sys.stderr = shown


def run_atheris(run: Callable[[bytes], bool], seconds: float, seeds: Path, grown: Path) -> None:
    """Fuzz until the time is over; never returns. grown: where new inputs are kept."""
    import atheris
    grown.mkdir(parents=True, exist_ok=True)
    atheris.Setup([
        'fuzz', f'-max_total_time={max(1, round(seconds))}', f'-timeout={MAX_SECONDS}',
        f'-rss_limit_mb={MAX_MEMORY}', f'-max_len={MAX_SIZE}', '-print_final_stats=1',
        f'-artifact_prefix={grown.parent}/{grown.name}-', str(grown), str(seeds)],
        lambda data: _ignore(run(data)))
    atheris.Fuzz()


def _ignore(_: object) -> None:
    """Return None, as atheris wants."""


def run_hypothesis(run: Callable[[bytes], bool], seconds: float, seeds: Path,
                   grown: Path) -> None:
    """Fuzz until the time is over; an input that fails is kept beside grown."""
    from hypothesis import given, HealthCheck, Phase, seed, settings, strategies
    good = [path.read_bytes() for path in sorted(seeds.glob('*'))]
    edits = strategies.tuples(
        strategies.integers(0, MAX_SIZE), strategies.integers(0, 16),
        strategies.binary(max_size=16) | strategies.sampled_from(good))
    end, count = time.monotonic() + seconds, 0

    def once(start: bytes, changes: list[tuple[int, int, bytes]]) -> None:
        nonlocal count
        count += 1
        data = bytearray(start)
        for at, cut, new in changes:
            place = at % (len(data) + 1)
            data[place:place + cut] = new
        faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
        try:
            run(bytes(data[:MAX_SIZE]))
        except Exception:
            grown.parent.mkdir(parents=True, exist_ok=True)
            (grown.parent / f'{grown.name}-crash').write_bytes(data[:MAX_SIZE])
            raise
        finally:
            faulthandler.cancel_dump_traceback_later()
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 1024 * MAX_MEMORY:
            raise MemoryError(f'expected at most {MAX_MEMORY} MB')

    batch = 0
    while time.monotonic() < end:
        batch += 1
        seed(batch)(settings(
            max_examples=BATCH, deadline=None, database=None, phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck))(given(
                strategies.sampled_from(good), strategies.lists(edits, max_size=5))(once)))()
    print(f'stat::number_of_executed_units: {count}', file=sys.stderr)
