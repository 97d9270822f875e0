# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Why samples are missing.

They were counted by the node, or lost on the way to the recorder. Or the machine was late.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.nodes.accounts import Loss
from benchmarks.nodes.heartbeat import explains
from liedyn_ros.ros.qos import TOPIC_DEPTH

LATE = 2_000_000_000  # ns, by which a busy node may count later than a sample was lost
CAUSES = NODE, RECORDER, MACHINE, NONE = (
    'counted by the node', 'lost on the way to the recorder', 'while the machine was late',
    'without a cause')


@dataclass
class Count:
    """
    Samples that somebody counted as missing between two times, ns.

    Those that explain a loss are taken off.
    """

    begin: int
    end: int
    samples: int


def causes(losses: Sequence[Loss], counted: Sequence[Count], unheard: Sequence[Count],
           late: np.ndarray, rate: float) -> tuple[Counter[str], list[Loss]]:
    """
    Return how many samples were lost by which cause, and the losses that have none.

    counted: by the node. unheard: by the recorder, of its own. A count explains as many samples as
    it has, of losses in its time. late: (n, 2), ns, in which the machine was late. rate: of the
    samples, Hz: a machine that lets a queue of DEPTH of them overflow, and some more be lost, has
    been late for as long as they take.
    """
    found: Counter[str] = Counter(dict.fromkeys(CAUSES, 0))
    left = list(losses)
    for name, counts in ((NODE, counted), (RECORDER, unheard)):
        total = _samples(left)
        left = _without(left, counts)
        found[name] = total - _samples(left)
    total, period = _samples(left), 1e9 / rate
    queue = TOPIC_DEPTH * period
    left = [loss for loss in left if not explains(
        late, loss.after - queue, loss.before + queue, queue + loss.samples * period)]
    found[MACHINE], found[NONE] = total - _samples(left), _samples(left)
    return found, left


def _samples(losses: Sequence[Loss]) -> int:
    return sum(loss.samples for loss in losses)


def _without(losses: Sequence[Loss], counts: Sequence[Count]) -> list[Loss]:
    """Return what counts leave of losses; what explains these is taken off the counts."""
    left, in_order = [], sorted(counts, key=lambda count: count.end)
    for loss in losses:
        missing = loss.samples
        for count in in_order:
            if count.begin - LATE <= loss.before and loss.after <= count.end:
                explained = min(missing, count.samples)
                count.samples -= explained
                missing -= explained
        if missing:
            left.append(loss._replace(samples=missing))
    return left
