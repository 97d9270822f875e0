# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Ages of published messages between two reports, and warnings of a controller without states."""

from statistics import median

from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.input_gate import InputGate

MAX_KEPT = 1000  # ages of which the median is taken


class AgeStatistics:
    """The greatest of all ages, s, and the median of some, taken evenly from the whole time."""

    def __init__(self) -> None:
        """Begin without any."""
        self.greatest = 0.0
        self._kept: list[float] = []
        self._noted, self._stride = 0, 1  # each so many is kept

    def __len__(self) -> int:
        """Return how many were noted."""
        return self._noted

    def note(self, age: float) -> None:
        """Take one more."""
        if age > self.greatest:
            self.greatest = age
        if self._noted % self._stride == 0:
            if len(self._kept) == MAX_KEPT:
                del self._kept[1::2]
                self._stride *= 2
            if self._noted % self._stride == 0:
                self._kept.append(age)
        self._noted += 1

    def report(self) -> dict[str, str]:
        """Return both for /diagnostics; nothing where none was noted."""
        return {'age median, ms': f'{1e3 * median(self._kept):.2f}',
                'age greatest, ms': f'{1e3 * self.greatest:.2f}'} if self._noted else {}


def tell_silence(node: ManagedNode, gate: InputGate, expected: str, refusal: str) -> None:
    """
    Log that a node which controls gets no states: an error once there were some.

    refusal: why the last state was refused since the last good one, or nothing.
    """
    gate.look()
    if not (node.active and gate.silent):
        return
    reason = gate.missing(expected)
    if refusal:
        reason += f': all states were refused, the last one: {refusal}'
    if gate.heard or refusal:
        node.complain(reason, 'silence')
    else:
        node.wait_for(reason, 'states')
