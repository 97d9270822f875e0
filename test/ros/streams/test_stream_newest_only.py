# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A stream that hands over the newest message of each publisher and counts the others."""

import re

from diagnostic_msgs.msg import DiagnosticArray
import pytest
from std_msgs.msg import Int64

from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.diagnostics import StreamDiagnostics
from liedyn_ros.ros.streams.stream import Stream

pytestmark = pytest.mark.ros


class Picky(ManagedNode):
    """A node that takes the newest number of each publisher."""

    def __init__(self, **options):
        """Start; nothing comes yet."""
        self.taken = []
        super().__init__('picky', (), **options)

    def configure(self):
        """Open the stream."""
        self.stream = Stream(self)
        self.stream.subscribe(
            Int64, 'numbers', lambda message: self.taken.append(message.data), 10,
            newest_only=True)
        StreamDiagnostics(self, self.stream, 'numbers')
        self.stream.start()


def held_back(bench, publishers):
    """Start the node and publish 0, then 1 to 6 in turn while it holds 0; return the node."""
    node, heard = bench.start(Picky), bench.collect(Int64, 'numbers')
    for publisher in publishers:
        bench.until(lambda: publisher.get_subscription_count() == 2, 'its subscriptions')
    bench.until(lambda: node.count_publishers('numbers') == len(publishers), 'the publishers')
    with node.lock:
        publishers[0].publish(Int64(data=0))
        bench.until(lambda: node.stream.taken == 1, 'the first')
        for number in range(1, 7):
            publishers[number % len(publishers)].publish(Int64(data=number))
        bench.until(lambda: {message.data for message in heard} == {*range(7)}, 'the others')
    bench.until(lambda: node.stream.taken == 7, 'the others')
    bench.until(lambda: len(node.taken) + node.stream.passed_over == 7, 'the newest')
    return node


def test_the_newest_and_the_rest_counted(bench):
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    node = held_back(bench, [bench.publisher(Int64, 'numbers')])
    assert (node.taken, node.stream.passed_over, node.stream.lost) == ([0, 6], 5, 0)
    status = bench.until(lambda: next((
        status for report in reports for status in report.status
        if status.name == node.status_name('numbers') and 'passed over' in status.message), None),
        'a warning')
    assert status.level == status.WARN
    # A report may have come between the first message and the others.
    assert re.fullmatch(
        'too slow: of [67] messages 5 were passed over and 0 lost', status.message)


def test_of_several_publishers_the_newest_of_each_and_nothing_told_as_lost(bench):
    """Where the middleware does not tell them apart, as on Jazzy, all of it."""
    publishers = [bench.publisher(Int64, 'numbers') for _ in range(2)]
    for _ in range(20):  # that nobody hears: the publishers' counts differ from now on
        publishers[0].publish(Int64())
    node = held_back(bench, publishers)
    infos = []
    bench.partner.create_subscription(Int64, 'probe', lambda _, info: infos.append(info), 10)
    probe = bench.publisher(Int64, 'probe')
    bench.until(lambda: infos, 'what the middleware tells', lambda: probe.publish(Int64()))
    told_apart = 'publisher_gid' in infos[0]
    assert (node.taken[0], set(node.taken[1:])) == (0, {5, 6} if told_apart else {*range(1, 7)})
    assert (node.stream.passed_over, node.stream.lost) == (4 if told_apart else 0, 0)
