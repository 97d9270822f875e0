# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Findings of a run: the verdict first, at most three reasons, one next step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from liedyn_ros.commands.reports.page import ReportPage

MAX_REASONS = 3  # reasons beside a verdict


class Findings(NamedTuple):
    """
    Findings of a run: verdict, a sentence, reasons for it, and the one next step.

    good: whether the verdict is shown in green, or as bad; None for neither. Reasons beyond MOST
    are further findings, as others are.
    """

    verdict: str
    good: bool | None
    reasons: Sequence[str]
    next_step: str
    others: Sequence[str] = ()

    @property
    def further(self) -> list[str]:
        """Return the findings that are not at the top."""
        return [*self.reasons[MAX_REASONS:], *self.others]

    def print_top(self) -> None:
        """Print verdict, reasons and next step."""
        print(self.verdict)
        for text in self.reasons[:MAX_REASONS]:
            print(f'- {text}')
        print(f'Next: {self.next_step}')

    def print_further(self) -> None:
        """Print the findings that are not at the top."""
        for text in self.further:
            print(f'- {text}')

    def begin(self, page: ReportPage) -> None:
        """Put verdict, reasons and next step at the top of a page."""
        page.text(self.verdict, '' if self.good is None else 'good' if self.good else 'bad')
        page.items(self.reasons[:MAX_REASONS])
        page.text(f'Next: {self.next_step}')

    def end(self, page: ReportPage) -> None:
        """Put the findings that are not at the top on a page, below its tables."""
        page.heading('More findings')
        page.items(self.further or ['none'])
