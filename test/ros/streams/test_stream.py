# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A stream beside the executor: in order, newest published, losses counted; pairs of messages."""

import re
from threading import current_thread, Event, main_thread, Semaphore
import time

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, TwistStamped
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from std_msgs.msg import Float64, Int64
from std_srvs.srv import Trigger

from liedyn_ros.ros.messages.conversions import stamp_of
from liedyn_ros.ros.node.lifecycle import ManagedNode, set_rate
from liedyn_ros.ros.streams import stream as streams
from liedyn_ros.ros.streams.diagnostics import MAX_RESULT_AGE, StreamDiagnostics
from liedyn_ros.ros.streams.input_gate import StampedPair
from liedyn_ros.ros.streams.stream import Stream

pytestmark = pytest.mark.ros


class Listener(ManagedNode):
    """A node that keeps what it hears, message by message and batch by batch."""

    def __init__(self, **options):
        """Start; `gate` holds the reader in its first message."""
        self.taken, self.batches, self.threads = [], [], set()
        self.inside, self.gate = Event(), Event()
        self.gate.set()
        super().__init__('listener', (), **options)

    def destroy_node(self):
        """Let the reader go, which a failing test leaves held, and end it."""
        self.gate.set()
        super().destroy_node()

    def configure(self):
        """Open two streams."""
        self.reader = Stream(self, lambda: self.batches.append(list(self.taken)))
        self.reader.subscribe(Int64, 'numbers', self._take, 10)
        self.reader.subscribe(Float64, 'faults', self._fail, 10)
        self.reader.start()

    def _take(self, message):
        self.inside.set()
        self.gate.wait()
        self.threads.add(current_thread())
        self.taken.append(message.data)

    def _fail(self, _):
        raise RuntimeError('a fault in a callback')


@pytest.fixture
def listener(bench):
    """Return a listener that hears a publisher, and that publisher."""
    node, publisher = bench.start(Listener), bench.publisher(Int64, 'numbers')
    bench.until(publisher.get_subscription_count, 'its subscription')
    return node, publisher


def held(bench, node, publisher, count):
    """Publish numbers while the reader is held in the first of them, then let it go."""
    node.inside.clear(), node.gate.clear()
    publisher.publish(Int64(data=0))
    assert node.inside.wait(600.0)
    for number in range(1, count):
        publisher.publish(Int64(data=number))
    node.gate.set()
    bench.until(lambda: node.batches and node.batches[-1][-1:] == [count - 1], 'the last number')


def test_all_that_waits_is_taken_in_order_and_reported_once(bench, listener):
    """A message that comes while a batch is worked through, here the first, is of the next."""
    node, publisher = listener
    held(bench, node, publisher, 8)
    assert node.taken == list(range(8))
    assert [len(batch) for batch in node.batches] == [1, 8]
    assert main_thread() not in node.threads and len(node.threads) == 1


class Stepper(Listener):
    """A listener that is let go message by message."""

    def __init__(self, **options):
        """Start."""
        self.steps = Semaphore(0)
        super().__init__(**options)

    def destroy_node(self):
        """Let the reader go, which a failing test leaves held, and end it."""
        self.steps.release(1000)
        super().destroy_node()

    def _take(self, message):
        self.inside.set()
        self.steps.acquire()
        self.taken.append(message.data)


@pytest.mark.whole
@pytest.mark.parametrize('late, lost', ((10, 0), (11, 1)))
def test_what_comes_during_a_batch_joins_it(bench, late, lost):
    """A batch may take longer than the queue lasts; what joins it has the same bound."""
    node, publisher = bench.start(Stepper), bench.publisher(Int64, 'numbers')
    bench.until(publisher.get_subscription_count, 'its subscription')
    publisher.publish(Int64(data=0))
    sent = 1
    for count in (10, 6, 4, late):  # the queue, ahead twice, the queue again
        assert node.inside.wait(600.0)
        node.inside.clear()
        for number in range(sent, sent + count):
            publisher.publish(Int64(data=number))
        sent += count
        node.steps.release()
    node.steps.release(sent)
    bench.until(lambda: node.taken[-1:] == [sent - 1], 'the last number')
    assert node.taken == [*range(21), *range(21 + lost, sent)]
    assert node.reader.lost == lost
    bench.until(lambda: len(node.batches) == 3, 'the report of the last batch')
    assert [batch[-1] for batch in node.batches] == [0, 20, sent - 1]  # the newest that was taken


class Deep(Listener):
    """A listener whose queue is deep."""

    def configure(self):
        """Open the stream."""
        self.reader = Stream(self, lambda: self.batches.append(list(self.taken)))
        self.reader.subscribe(Int64, 'numbers', self._take, 300)
        self.reader.start()


def test_however_deep_the_queue_all_that_waits_is_one_batch(bench):
    node, publisher = bench.start(Deep), bench.publisher(Int64, 'numbers', 300)
    bench.until(publisher.get_subscription_count, 'its subscription')
    held(bench, node, publisher, 251)
    assert [len(batch) for batch in node.batches] == [1, 251]


def test_messages_that_come_as_fast_as_they_are_taken_end_no_batch_late(bench):
    """A source that always has one more gives its depth, then what came ahead, then the report."""
    node = bench.start(Listener)
    source, = (each for each in node.reader._sources
               if each.subscription.topic_name.endswith('numbers'))
    with node.lock:
        source._take = lambda *_: (Int64(data=1), {})
        batch = node.reader._take_all()
        assert len(batch) == 10
        node.reader._begin_batch()
        node.reader._take_ahead(batch)
        assert len(batch) == 20
        source._take = lambda *_: None


def test_what_does_not_fit_the_queue_is_counted_as_lost(bench, listener):
    node, publisher = listener
    before = node.reader.lost
    held(bench, node, publisher, 31)  # one in hand, ten in the queue
    assert node.taken[1:] == list(range(21, 31))
    assert node.reader.lost - before == 20
    told = StreamDiagnostics(node, node.reader, 'numbers')._report((10, 0, 2), 1.0).message
    assert told == 'too slow: of 12 messages 0 were passed over and 2 lost'


def test_a_fault_in_a_callback_is_logged_and_the_stream_goes_on(bench, listener):
    node, publisher = listener
    faults = bench.publisher(Float64, 'faults')
    bench.until(lambda: any('a fault in a callback' in line for line in bench.logged(node)),
                'the fault', act=lambda: faults.publish(Float64()))
    held(bench, node, publisher, 2)
    assert node.taken == [0, 1]


def test_the_executor_is_not_needed(listener):
    """Nothing spins here: the reader takes the number by itself."""
    node, publisher = listener
    node.inside.clear()
    publisher.publish(Int64(data=5))
    assert node.inside.wait(600.0)


def test_cleanup_ends_the_thread_and_configure_starts_another(bench, listener):
    node, publisher = listener
    held(bench, node, publisher, 1)
    first = node.threads.pop()
    for transition in ('deactivate', 'cleanup'):
        assert getattr(node, f'trigger_{transition}')() is TransitionCallbackReturn.SUCCESS
    assert not first.is_alive()
    assert node.trigger_configure() is TransitionCallbackReturn.SUCCESS
    node.taken.clear()
    bench.until(lambda: node.taken, 'a number', act=lambda: publisher.publish(Int64(data=1)))
    assert first not in node.threads


@pytest.mark.smoke
def test_the_end_of_the_context_ends_the_thread(other_context, namespace):
    node = Listener(context=other_context, namespace=namespace)
    thread = node.reader._thread
    other_context.shutdown()
    thread.join(600.0)
    assert not thread.is_alive()
    node.destroy_node()


class Timed(Listener):
    """A listener whose messages have the time at which they were sent."""

    def configure(self):
        """Open the stream."""
        self.reader = Stream(self)
        self.reader.subscribe(
            Int64, 'numbers', lambda message, sent: self.taken.append((message.data, sent)), 10,
            timed=True)
        StreamDiagnostics(self, self.reader, 'numbers')
        self.reader.start()


def test_a_message_that_waited_is_told_its_time_and_the_wait_is_its_age(bench):
    node, publisher = bench.start(Timed), bench.publisher(Int64, 'numbers')
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    bench.until(publisher.get_subscription_count, 'its subscription')
    with node.lock:
        begin_ns = time.time_ns()
        publisher.publish(Int64(data=1))
        end_ns = time.time_ns()
        bench.until(lambda: time.time_ns() > end_ns + 2e9 * MAX_RESULT_AGE,
                    'a wait that is too long')
    bench.until(lambda: node.taken, 'the number')
    (data, sent_ns), = node.taken
    assert data == 1 and begin_ns <= sent_ns <= end_ns
    status = bench.until(lambda: next((
        status for report in reports for status in report.status
        if status.name == node.status_name('numbers') and status.level == status.WARN), None),
        'a warning')
    assert re.fullmatch(
        r'too slow: a message was handled \d+ ms after it was sent', status.message)
    values = {entry.key: float(entry.value) for entry in status.values}
    assert values['taken'] == 1 and values['lost'] == 0 and 0.0 < values['rate, Hz'] < 10.0
    assert values['age greatest, ms'] == values['age median, ms'] >= 2e3 * MAX_RESULT_AGE


class Answerer(ManagedNode):
    """A node whose stream has a service, a client of it, and a timer."""

    def __init__(self, **options):
        """Start; nothing comes yet."""
        self.replies, self.ticks, self.threads = [], 0, set()
        super().__init__('answerer', (), **options)

    def configure(self):
        """Open one of each."""
        stream = Stream(self)
        stream.open_service(Trigger, 'answer', self._answer)
        self.client = stream.open_client(Trigger, 'answer')
        self.timer = stream.open_timer(0.0, self._tick)
        stream.start()

    def ask(self):
        """Send a request; the reply is noted."""
        future = self.client.call_async(Trigger.Request())
        future.add_done_callback(lambda done: self._note(self.replies, done.result().message))
        return future

    def _answer(self, _, response):
        self.threads.add(current_thread())
        response.message = 'here'
        return response

    def _note(self, replies, reply):
        self.threads.add(current_thread())
        replies.append(reply)

    def _tick(self):
        self.threads.add(current_thread())
        self.ticks += 1


@pytest.fixture
def answerer(bench):
    """Return a node whose client has found its service."""
    node = bench.start(Answerer)
    bench.until(node.client.service_is_ready, 'its service')
    return node


def test_services_clients_and_timers_are_served_in_the_thread_of_the_stream(bench, answerer):
    for _ in range(3):
        answerer.ask()
    set_rate(answerer.timer, 100.0)
    bench.until(lambda: len(answerer.replies) == 3 and answerer.ticks > 3, 'replies and ticks')
    assert answerer.replies == ['here'] * 3
    assert len(answerer.threads) == 1 and main_thread() not in answerer.threads


def test_a_request_that_was_given_up_is_not_replied_to(bench, answerer):
    with answerer.lock:  # until the stream may answer
        answerer.client.remove_pending_request(answerer.ask())
    answerer.ask()
    bench.until(lambda: answerer.replies, 'the second reply')
    assert answerer.replies == ['here']


def test_a_timer_that_is_set_to_nothing_stands_still(bench, answerer):
    set_rate(answerer.timer, 100.0)
    bench.until(lambda: answerer.ticks, 'a tick')
    set_rate(answerer.timer, 0.0)
    answerer.ask()
    bench.until(lambda: answerer.replies, 'a reply, after the last tick')
    ticks = answerer.ticks
    answerer.ask()
    bench.until(lambda: len(answerer.replies) == 2, 'another one')
    assert answerer.ticks == ticks


def test_a_timer_that_is_cancelled_as_it_comes_due_is_no_fault(bench, answerer, monkeypatch):
    """Another thread may cancel it after it was found due."""
    set_rate(answerer.timer, 1000.0)
    bench.until(lambda: answerer.ticks, 'a tick')
    rearm = streams._rearm
    monkeypatch.setattr(streams, '_rearm', lambda timer: timer.cancel() or rearm(timer))
    bench.until(answerer.timer.is_canceled, 'the cancellation')
    answerer.ask()
    bench.until(lambda: answerer.replies, 'a reply, after the last tick')
    assert bench.logged(answerer) == []


def test_a_stream_without_the_lock_serves_while_another_callback_holds_it(bench):
    class Slow(Answerer):

        def configure(self):
            super().configure()
            stream = Stream(self, name='slow_services', guarded=False)
            stream.open_service(Trigger, 'slow', self._answer)
            stream.start()

    node = bench.start(Slow)
    with node.lock:
        assert bench.call(Trigger, 'slow').message == 'here'


def of(message_type, stamp_ns):
    """Return a message of a type with a stamp."""
    message = message_type()
    message.header.stamp = stamp_of(stamp_ns)
    return message


@pytest.mark.parametrize('order', [(0, 1), (1, 0)])
def test_messages_of_one_stamp_come_in_the_order_of_the_types(order):
    pair, both = StampedPair(PoseStamped, TwistStamped), (of(PoseStamped, 7), of(TwistStamped, 7))
    assert pair.add(both[order[0]]) is None
    assert pair.add(both[order[1]]) == both
    assert pair.add(of(PoseStamped, 7)) is None  # each is used once


def test_a_partner_that_is_taken_after_the_next_message_is_found():
    pair, poses = StampedPair(PoseStamped, TwistStamped), [of(PoseStamped, k) for k in range(4)]
    twists = [of(TwistStamped, k) for k in range(4)]
    assert [pair.add(each) for each in poses[:3]] == [None] * 3
    assert pair.add(twists[0]) is None  # only the two newest wait
    assert pair.add(twists[1]) == (poses[1], twists[1])
    assert pair.add(twists[2]) == (poses[2], twists[2])


def test_what_came_before_a_pair_is_dropped():
    pair, late = StampedPair(PoseStamped, TwistStamped), of(TwistStamped, 1)
    newest = of(PoseStamped, 2), of(TwistStamped, 2)
    assert pair.add(of(PoseStamped, 1)) is None and pair.add(newest[0]) is None
    assert pair.add(newest[1]) == newest
    assert pair.add(late) is None


def test_cleared_it_waits_for_both():
    pair = StampedPair(PoseStamped, TwistStamped)
    pair.add(of(PoseStamped, 1))
    pair.clear()
    assert pair.add(of(TwistStamped, 1)) is None


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
