# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Verdict on a part of the demo: HELD, NOT HELD or NOT SHOWN, by its recording alone."""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

# Of the expected messages that a recording must hold, for a verdict of it
MIN_RECEIVED_SHARE = 0.99


class NotShownError(RuntimeError):
    """Error where data that a part of the demo needs did not come; the text names them."""


class Outcome(Enum):
    """The three verdicts; the value is the exit code of a demo that ends with it."""

    HELD = 0
    NOT_HELD = 1
    NOT_SHOWN = 2

    def __str__(self) -> str:
        """Return the verdict in words."""
        return self.name.replace('_', ' ')


class DemoVerdict(NamedTuple):
    """
    A verdict with its reasons.

    evidence: what the recording holds. faults: which bounds it breaks. missing: what a verdict
    needs besides.
    """

    evidence: str
    faults: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @classmethod
    def of(cls, evidence: str, faults: Mapping[str, bool],
           missing: Iterable[str]) -> 'DemoVerdict':
        """Take faults, each with whether it was seen, and reasons that may be empty."""
        return cls(evidence, tuple(fault for fault, seen in faults.items() if seen),
                   tuple(filter(None, missing)))

    @property
    def outcome(self) -> Outcome:
        """Return NOT_HELD where a bound was broken, NOT_SHOWN where evidence is missing."""
        if self.faults:
            return Outcome.NOT_HELD
        return Outcome.NOT_SHOWN if self.missing else Outcome.HELD

    def __str__(self) -> str:
        """Return the verdict, its evidence and its reasons, a line each."""
        return '\n'.join([f'  {self.outcome}: {self.evidence}',
                          *(f'    {fault}' for fault in self.faults),
                          *(f'    missing: {each}' for each in self.missing)])


def too_few(what: str, got: int, expected: int) -> str:
    """Return a reason where too few of the expected messages are there, else nothing."""
    return f'{what}: {got} of {expected}' if got < MIN_RECEIVED_SHARE * expected else ''
