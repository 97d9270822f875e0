# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The tests of ``make test``: every test function, by a sample of its cases; ``pytest --core``.

``make test-all`` runs all. A test marked ``full`` is left out of the core: statistics,
executables, documents. Of a function with parameters the core takes each value of each parameter
once, in as few cases as that needs, and at most MAX_CASES: fewer where a case starts a node, a
command or a browser, which takes a second. The choice depends on the cases alone. Refusals have
all their cases in the core, and so has a test marked ``whole``: one of them alone finds a fault.

A test that hangs fails: each has a bound of time. Only one that never comes back from compiled
code ends its process, by faulthandler_timeout.
"""

from collections.abc import Generator, Iterable, Sequence, Set
from contextlib import contextmanager
from importlib.util import find_spec
import math
from pathlib import Path
import re
import signal
from typing import Any
from zlib import crc32

import pytest

Case = Any  # a choice of parameters, with their places as indices
MAX_CASES, MAX_STARTS = 2, 1
MAX_EXAMPLES = 20  # of hypothesis, which has 100 by default
LONGEST, LONGEST_OF_FULL = 300.0, 1000.0  # s; what is built for a test may take the second
AGAIN = 30.0  # s, after which it comes again: Python loses a signal in a callback of its collector
FULL = re.compile(r'^pytestmark = .*\bpytest\.mark\.full\b', re.MULTILINE)  # the whole file is
STARTS = {'bags', 'commands', 'launch', 'view'}  # folders of tests that start something
NODES = {'bench', 'context', 'namespace', 'other_context'}  # fixtures of tests that start nodes
REFUSALS = re.compile('refus|bad_|wrong|cannot')  # of what no other case refuses, in milliseconds


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption('--core', action='store_true', help='run the core alone, as make test does')


def pytest_configure(config: pytest.Config) -> None:
    """Let hypothesis try fewer examples, and search no source for numbers: 0.5 s a process."""
    if config.getoption('--core') and find_spec('hypothesis'):
        from hypothesis import settings
        from hypothesis.internal.conjecture import providers
        vars(providers).update(is_local_module_file=lambda _: False)
        settings.register_profile('core', max_examples=MAX_EXAMPLES)
        settings.load_profile('core')


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of which the core takes nothing: each process imports all others."""
    core = config.getoption('--core') and collection_path.suffix == '.py'
    return True if core and FULL.search(collection_path.read_text(encoding='utf-8')) else None


@contextmanager
def bounded(seconds: float) -> Generator[None, None, None]:
    """Fail what takes longer than some seconds; what it waits for is in the traceback."""
    def end(*_: Any) -> None:
        pytest.fail(f'expected an end within {seconds:g} s')

    before = signal.signal(signal.SIGALRM, end)
    left = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *left)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Bound the time of a test."""
    full = item.get_closest_marker('full') is not None
    with bounded(LONGEST_OF_FULL if full else LONGEST):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup() -> Generator[None, Any, Any]:
    """Bound the time of what a test needs, and of what ends it."""
    with bounded(LONGEST_OF_FULL):
        return (yield)


pytest_runtest_teardown = pytest_runtest_setup


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make no case that the core leaves out: eight of twelve thousand, in each process."""
    calls = metafunc._calls  # no public name has them
    if not calls or not metafunc.config.getoption('--core'):
        return
    marks = {mark.name for mark in metafunc.definition.iter_markers()}
    quick = [call for call in calls if 'full' not in {mark.name for mark in call.marks}]
    most = most_of(
        metafunc.definition.path, metafunc.fixturenames, metafunc.function.__name__, marks)
    metafunc._calls = sample(metafunc.function.__name__, quick, most) or calls[:1]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that the core does not take at all."""
    if config.getoption('--core'):
        left = [item for item in items if item.get_closest_marker('full')]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def most_of(path: Path, fixtures: Iterable[str], name: str, marks: Set[str]) -> float:
    """Return how many cases of a test the core takes at most."""
    if 'whole' in marks:
        return math.inf
    if not (STARTS.isdisjoint(path.parts) and NODES.isdisjoint(fixtures)):
        return MAX_STARTS
    return math.inf if REFUSALS.search(name) else MAX_CASES


def sample(name: str, cases: Sequence[Case], most: float) -> list[Case]:
    """Return cases with each value of each parameter, as few as a greedy choice needs."""
    if most >= len(cases):
        return list(cases)
    places = [set(case.indices.items()) for case in cases]
    left = sorted(range(len(cases)), key=lambda k: crc32(f'{name} {sorted(places[k])}'.encode()))
    missing: set[tuple[str, int]] = set().union(*places)
    chosen: list[int] = []
    while len(chosen) < most and (missing or not chosen):
        best = max(left, key=lambda k: len(places[k] & missing))
        chosen.append(best)
        left.remove(best)
        missing -= places[best]
    return [cases[k] for k in sorted(chosen)]
