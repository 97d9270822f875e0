# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A node's outputs and answers during a fault and after it."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

STEADY = 10  # good outputs in a row, after which a node works, unless it says another number
MAX_GAP = 1.0  # s, between two of these


class Outcome(NamedTuple):
    """
    Figures of a fault; times are in s.

    inputs: heard beside the node, from the fault until good outputs were back. lost: inputs
    without a good output; None where outputs do not answer inputs. wrong: outputs that are not
    right. gap: the longest time without a good output. back: from the first input after the
    fault, or from its end where outputs do not answer inputs, to a good output. served: from the
    end of the fault to a right answer of the service.
    unanswered: requests without a right answer.
    """

    inputs: int
    lost: int | None
    wrong: int
    gap: float
    back: float
    served: float
    unanswered: int


@dataclass
class Record:
    """
    The observed samples; times are monotonic, s, and stamps ns.

    inputs: time and stamp. outputs: time, stamp, whether it is right, whether it is fresh.
    requests: when sent, when settled, whether rightly answered. steady, max_gap: so many good
    outputs in a row, with at most so many s between two, tell that a node works.
    """

    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)
    steady: int = STEADY
    max_gap: float = MAX_GAP

    def extend(self, other: 'Record') -> None:
        """Append a later record."""
        self.inputs.extend(other.inputs)
        self.outputs.extend(other.outputs)
        self.requests.extend(other.requests)

    def back_at(self, begin: float) -> float | None:
        """Return the first time after another from which good outputs follow each other."""
        run: list[float] = []
        for at, _, right, fresh in self.outputs:
            if at < begin:
                continue
            good = right and fresh and (not run or at - run[-1] < self.max_gap)
            run = [*run, at] if good else [at] if right and fresh else []
            if len(run) == self.steady:
                return run[0]
        return None

    def served_at(self, begin: float) -> float | None:
        """Return when a request was answered that was sent after a time."""
        return min((settled for sent, settled, right in self.requests
                    if right and sent >= begin), default=None)

    def works(self, begin: float, fed: bool = False) -> bool:
        """Return whether outputs and answers are good after a time; fed: after its first input."""
        first = self.first_input(begin) if fed else begin
        return (first is not None and self.back_at(first) is not None
                and self.served_at(begin) is not None)

    def first_input(self, begin: float) -> float | None:
        """Return when input was heard first after a time."""
        return min((at for at, _ in self.inputs if at >= begin), default=None)

    def outcome(self, begin: float, end: float, matched: bool) -> Outcome:
        """
        Return the figures of a fault between two times, after which the node works again.

        matched: inputs have outputs of their stamps.
        """
        heard = self.first_input(end) if matched else None
        first = end if heard is None else heard
        back, served = self.back_at(first), self.served_at(end)
        if back is None or served is None:
            raise ValueError('expected a node that works after the fault, got one that does not')
        good = {stamp for _, stamp, right, _ in self.outputs if right}
        inputs = [stamp for at, stamp in self.inputs if begin <= at < back]
        times = [begin, *(at for at, _, right, fresh in self.outputs
                          if right and fresh and begin <= at <= back), back]
        return Outcome(
            len(inputs), sum(stamp not in good for stamp in inputs) if matched else None,
            sum(not right for at, _, right, _ in self.outputs if at >= begin),
            float(np.diff(times).max()),
            back - first, served - end,
            sum(not right for sent, _, right in self.requests if sent >= begin))
