# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The two engines: guided by coverage, by atheris, or good inputs that are damaged at random."""

from collections.abc import Callable, Sequence
import faulthandler
from importlib.util import find_spec
import io
from pathlib import Path
import random
import resource
import sys
import time
from typing import NamedTuple

import liedyn_ros

ENGINES = 'atheris', 'mutations'
INSTRUMENTED = ['liedyn_ros', 'yaml']
MAX_SECONDS = 60  # of one input
MAX_MEMORY = 3000  # MB, of the process
MAX_SIZE = 16384  # bytes of an input
PERIOD = 10.0  # s, of a word on how far it is
FOUND = 77  # the exit code for a finding, as that of libFuzzer
MEANT = (  # parts that mean something to a reader
    b'<', b'>', b'"', b"'", b'&', b'&#0;', b'\n', b'\0', b'\xff', b'\xef\xbb\xbf', b',', b':',
    b'- ', b'{', b'}', b'[', b']', b'nan', b'-inf', b'1e999', b'1e-320', b'-1', b'0', b'9' * 40,
    b'!!x ', b'*a', b'&a ', b'..', b'/', b'$(', b'${', b'<!ENTITY a "b">', b'<![CDATA[',
    b'\xff' * 8, b'\x80\0\0\0', b'\xe2\x80\xae', b'%s', b'None', b'true', b'<script>')


class Amount(NamedTuple):
    """How long to fuzz: inputs where they are given, else seconds."""

    seconds: float
    inputs: int


def best() -> str:
    """Return the engine that is installed: mutations where atheris is not."""
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


def run_atheris(run: Callable[[bytes], bool], amount: Amount, seeds: Path, grown: Path) -> None:
    """Fuzz until it is enough; never returns. grown: where new inputs are kept."""
    import atheris
    grown.mkdir(parents=True, exist_ok=True)
    atheris.Setup([
        'fuzz', f'-runs={amount.inputs}' if amount.inputs else
        f'-max_total_time={max(1, round(amount.seconds))}', f'-timeout={MAX_SECONDS}',
        f'-rss_limit_mb={MAX_MEMORY}', f'-max_len={MAX_SIZE}', '-print_final_stats=1',
        f'-artifact_prefix={grown.parent}/{grown.name}-', str(grown), str(seeds)],
        lambda data: _ignore(run(data)))
    atheris.Fuzz()


def _ignore(_: object) -> None:
    """Return None, as atheris wants."""


def run_mutations(run: Callable[[bytes], bool], amount: Amount, seeds: Path,
                  grown: Path) -> None:
    """Fuzz until enough inputs were tried; one that fails is kept beside grown."""
    good = [path.read_bytes() for path in sorted(seeds.glob('*'))]
    chance, end, count = random.Random(), time.monotonic() + amount.seconds, 0
    grown.parent.mkdir(parents=True, exist_ok=True)
    told = time.monotonic()
    while count < amount.inputs if amount.inputs else time.monotonic() < end:
        data = mutated(good, chance)
        faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
        try:
            run(data)
        except BaseException:
            (grown.parent / f'{grown.name}-crash').write_bytes(data)
            raise
        faulthandler.cancel_dump_traceback_later()
        count += 1
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 1024 * MAX_MEMORY:
            raise MemoryError(f'expected at most {MAX_MEMORY} MB')
        if time.monotonic() - told > PERIOD:
            told = time.monotonic()
            print(f'{count} of {amount.inputs or "?"}', file=sys.stderr, flush=True)
    print(f'stat::number_of_executed_units: {count}', file=sys.stderr)


def mutated(good: Sequence[bytes], chance: random.Random) -> bytes:
    """Return one of some inputs with a few parts cut, moved, damaged, or taken from another."""
    data = bytearray(chance.choice(good))
    for _ in range(chance.randrange(6)):
        at, size = chance.randrange(len(data) + 1), chance.choice((0, 1, 1, 2, 4, 8, 32, 256))
        other = chance.choice(good)
        start = chance.randrange(len(other) + 1)
        data[at:at + size] = chance.choice((
            b'', chance.randbytes(chance.randrange(9)), chance.choice(MEANT),
            other[start:start + chance.randrange(64)], bytes(data[at:at + size]) * 2))
    return bytes(data[:MAX_SIZE])
