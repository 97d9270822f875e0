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

from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
import re
import signal
from typing import Any
from zlib import crc32

import pytest

MAX_CASES, MAX_STARTS = 2, 1
LONGEST, LONGEST_OF_FULL = 300.0, 1000.0  # s; what is built for a test may take the second
AGAIN = 30.0  # s, after which it comes again: Python loses a signal in a callback of its collector
FULL = re.compile(r'^pytestmark = .*\bpytest\.mark\.full\b', re.MULTILINE)  # the whole file is
STARTS = {'commands', 'launch', 'view'}  # folders of tests that start something
NODES = {'bench', 'context', 'other_context'}  # fixtures of tests that start nodes
REFUSALS = re.compile('refus|bad_|wrong|cannot')  # of what no other case refuses, in milliseconds


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption('--core', action='store_true', help='run the core alone, as make test does')


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
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the core does not take."""
    if not config.getoption('--core'):
        return
    kept = core_of(items)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def core_of(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the items of the core."""
    cases: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker('full') is None:
            cases[str(item.path), getattr(item, 'originalname', item.name)].append(item)
    return {item for each in cases.values() for item in sample(each, most_of(each[0], len(each)))}


def most_of(item: pytest.Item, cases: int) -> int:
    """Return how many cases of a test the core takes at most."""
    if item.get_closest_marker('whole') is not None:
        return cases
    if not (STARTS.isdisjoint(item.path.parts) and NODES.isdisjoint(item.fixturenames)):
        return MAX_STARTS
    return cases if REFUSALS.search(item.name) else MAX_CASES


def sample(cases: list[pytest.Item], most: int) -> list[pytest.Item]:
    """Return cases with each value of each parameter, as few as a greedy choice needs."""
    left = {item: _values(item) for item in sorted(cases, key=lambda item: crc32(
        f'{item.name.partition("[")[0]} {sorted(_values(item))}'.encode()))}
    missing, chosen = set().union(*left.values()), []
    if most >= len(cases):
        return cases
    while len(chosen) < most and (missing or not chosen):
        best = max(left, key=lambda item: len(left[item] & missing))
        chosen.append(best)
        missing -= left.pop(best)
    return chosen


def _values(item: pytest.Item) -> set[tuple[str, int]]:
    """Return the parameters of a case, each with the place of its value."""
    return set(item.callspec.indices.items()) if hasattr(item, 'callspec') else set()
