# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Times on a machine that others use too: taken in turns, compared round by round."""

from collections.abc import Callable, Sequence
import gc
from itertools import repeat
import statistics
from time import perf_counter
from typing import Any, NamedTuple

BLOCK = 1e-3  # seconds of one function in one round
ROUNDS = 101


class Call(NamedTuple):
    """A function and its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def interleaved(calls: Sequence[Call], rounds: int = ROUNDS,
                clock: Callable[[], float] = perf_counter) -> list[list[float]]:
    """
    Return for each call its time (s) in every round, in each of which all calls had a turn.

    The clock is that of the wall; thread_time leaves out what others compute meanwhile.
    """
    for call in calls:
        _time(call, 1, clock)  # which compiles it, or loads what is compiled
    counts = [max(1, round(BLOCK / _time(call, min(10, rounds), clock))) for call in calls]
    times: list[list[float]] = [[] for _ in calls]
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for taken, call, count in zip(times, calls, counts):
                taken.append(_time(call, count, clock))
    finally:
        gc.enable()
    return times


def median_ratio(times: Sequence[float], peer: Sequence[float]) -> float:
    """Return the median of the ratios of the rounds: what slows a round slows both."""
    return statistics.median(a / b for a, b in zip(times, peer))


def _time(call: Call, count: int, clock: Callable[[], float]) -> float:
    function, arguments = call
    start = clock()
    for _ in repeat(None, count):
        function(*arguments)
    return (clock() - start) / count
