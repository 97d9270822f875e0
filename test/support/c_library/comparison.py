# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Answers of programs of the C library beside those of Python, by name."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from support.c_library.c_library import run

from liedyn_ros.common.checks import Array

FLOOR = 1e-2  # of results that may vanish; all are of about 1 and more
Difference = Callable[[str, Array, Array], float]


def answers(program: Sequence[object], folder: Path, states: Sequence[Sequence[Array]],
            *arguments: object) -> Array:
    """Return a program's answers for the model file of a folder and for states, a state a row."""
    np.concatenate([np.ravel(part).astype(float) for state in states for part in state]).tofile(
        folder / 'states')
    run(*program, folder / 'model.liedyn', folder / 'states', *arguments, folder / 'results')
    return np.fromfile(folder / 'results').reshape(len(states), -1)


def relative(name: str, mine: Array, theirs: Array) -> float:
    """Return the largest difference relative to the largest entry, which is FLOOR at least."""
    return float(np.abs(mine - theirs).max(initial=0.0) / np.abs(theirs).max(initial=FLOOR))


def assert_same(got: Array, wanted: list[dict[str, Array]]) -> None:
    """Assert that answers have the bits of Python; else name the difference."""
    numbers = [np.concatenate([np.ravel(part) for part in values.values()]) for values in wanted]
    if np.array_equal(got, numbers, equal_nan=True):
        return
    for k, (row, values) in enumerate(zip(got, wanted)):
        assert {name for name, part in by_name(row, values).items()
                if not np.array_equal(part, values[name], equal_nan=True)} == set(), k


def assert_near(got: Array, wanted: list[dict[str, Array]], tolerance: Callable[[str], float],
                difference: Difference = relative) -> None:
    """Assert that answers differ by their tolerance at most; time derivatives order by order."""
    worst = differences(got, wanted, difference)
    assert {name: error for name, error in worst.items() if not error <= tolerance(name)} == {}


def differences(got: Array, wanted: list[dict[str, Array]], difference: Difference = relative
                ) -> dict[str, float]:
    """Return the largest difference of each result; time derivatives order by order."""
    worst: dict[str, float] = {}
    for row, values in zip(got, wanted):
        for name, part in by_name(row, values).items():
            value = values[name]
            if np.array_equal(part, value):
                worst.setdefault(name, 0.0)
                continue
            for mine, theirs in zip(part, value) if 'derivatives' in name else [(part, value)]:
                worst[name] = max(worst.get(name, 0.0), difference(name, mine, theirs))
    return worst


def by_name(row: Array, values: dict[str, Array]) -> dict[str, Array]:
    """Return a row of a program by the names and shapes of values."""
    ends = np.cumsum([value.size for value in values.values()])
    assert ends[-1] == row.size
    return {name: part.reshape(value.shape)
            for (name, value), part in zip(values.items(), np.split(row, ends[:-1]))}
