# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
How near each comparison is to its tolerance: ``pytest --margins=FILE`` appends a line a test.

A line has the largest difference of a test as a share of its tolerance, and the test. Comparisons
that held count: by ``assert_same``, ``assert_allclose``, ``allclose`` and ``pytest.approx``.
``-o enable_assertion_pass_hook=true`` adds ``assert a < b`` for a b of rounding, MAX_BOUND at
most, and takes up to ten times as long.
``python test/support/margins.py FILE ...`` prints the shares above a fifth, a column a file.
Those that are the same by the kernels of several processors are no errors of rounding.
"""

from collections.abc import Iterator
from functools import wraps
from pathlib import Path
import re
import sys
from typing import Any

from _pytest.assertion import rewrite
import numpy as np
import pytest

NEAR = 0.2  # of a tolerance
MAX_BOUND = 1e-4
NUMBER = r'(?:np\.float64\()?([-+.e\d]+)\)?'
BELOW = re.compile(rf'{NUMBER} <=? (?:{NUMBER}|\(([-+.e\d]+) \* {NUMBER}\))$')


class Margins:
    """A plugin that notes the shares of a test."""

    def __init__(self, file: str) -> None:
        """Take the file, and replace the comparisons."""
        self._file, self._worst = file, 0.0
        np.testing.assert_allclose = self._noted(np.testing.assert_allclose, 1e-7)
        np.allclose = self._noted(np.allclose, 1e-5, 1e-8)
        from support import comparison
        same = comparison.assert_same

        @wraps(same)
        def assert_same(got: Any, wanted: Any, tolerance: float = 1e-9,
                        floor: float = 0.0) -> None:
            same(got, wanted, tolerance, floor)
            self._note(got, wanted, 0.0, tolerance * np.abs(wanted).max(initial=floor))

        comparison.assert_same = assert_same
        of_numbers = type(pytest.approx(0.0))
        equal = of_numbers.__eq__

        def __eq__(approx: Any, actual: Any) -> bool:
            held = equal(approx, actual)
            if held and isinstance(actual, (float, complex)):
                self._note(actual, approx.expected, 0.0, approx.tolerance)
            return held

        of_numbers.__eq__ = __eq__

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Append the line of a test."""
        self._worst = 0.0
        yield
        if self._worst:
            with open(self._file, 'a', encoding='utf-8') as lines:
                lines.write(f'{self._worst:.3g} {item.nodeid}\n')

    def pytest_assertion_pass(self, expl: str) -> None:
        """Note a number below a bound."""
        found = BELOW.match(expl.partition('\n')[0])
        if found is None:
            return
        try:
            value, bound, *factors = (float(x or 1.0) for x in found.groups())
        except ValueError:  # no number
            return
        bound *= factors[0] * factors[1]
        if 0.0 < bound <= MAX_BOUND:
            self._worst = max(self._worst, abs(value) / bound)

    def _noted(self, compare: Any, usual_rtol: float, usual_atol: float = 0.0) -> Any:
        @wraps(compare)
        def noted(got: Any, wanted: Any, rtol: float = usual_rtol, atol: float = usual_atol,
                  *further: Any, **options: Any) -> Any:
            held = compare(got, wanted, rtol, atol, *further, **options)
            if held is None or held:
                self._note(got, wanted, rtol, atol)
            return held

        return noted

    def _note(self, got: Any, wanted: Any, rtol: Any, atol: Any) -> None:
        """Note the largest difference as a share of its tolerance, unless that is zero."""
        try:
            with np.errstate(all='ignore'):
                share = np.asarray(
                    np.abs(np.subtract(got, wanted)) / (atol + rtol * np.abs(wanted)))
        except (TypeError, ValueError):  # no numbers
            return
        self._worst = max(self._worst, *share[np.isfinite(share)].ravel().tolist(), 0.0)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption('--margins', metavar='FILE', help='append how near each test came to its '
                     'tolerance')


def pytest_configure(config: pytest.Config) -> None:
    """Note margins where they are asked for."""
    if file := config.getoption('--margins'):
        config.pluginmanager.register(Margins(file))
        if config.getini('enable_assertion_pass_hook'):
            rewrite.PYC_TAIL = f'-margins{rewrite.PYC_TAIL}'  # files without the hook are others


def table(files: list[str]) -> str:
    """Return the shares above NEAR, the greatest first, each with those of the other files."""
    shares: list[dict[str, float]] = []
    for file in files:
        lines = (line.split(maxsplit=1) for line in Path(file).read_text().splitlines())
        shares.append({test: float(share) for share, test in lines})
    most = {test: max(each.get(test, 0.0) for each in shares) for each in shares for test in each}
    return '\n'.join(
        '  '.join([*(f'{each[test]:9.3g}' if test in each else 9 * '-' for each in shares), test])
        for test in sorted(most, key=lambda test: -most[test]) if most[test] > NEAR)


if __name__ == '__main__':
    print(table(sys.argv[1:]))
