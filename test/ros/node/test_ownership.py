# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The base of all nodes: what is opened in a state is closed with it; kernels are warm first."""

import logging
import sys

from liedyn_interfaces.srv import PredictStewartPose, SolveStewartPose
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.logging import LoggingSeverity
from std_msgs.msg import Float64
from std_srvs.srv import Trigger
from support.bench.pose_bench import FAR, GEOMETRY, LEGS, NEAR, PoseBench, stamp_of

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.ros.node.lifecycle import CORE, ManagedNode, set_rate
from liedyn_ros.stewart import leg_lengths

pytestmark = pytest.mark.ros
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class Owner(ManagedNode):
    """A node that opens one thing of each kind in each state, and fails in the given one."""

    def __init__(self, **options):
        """Start unconfigured."""
        self.closed, self.fails = [], ''
        super().__init__('owner', (), **options)

    def configure(self):
        """Open five things."""
        self._open_all('configure')

    def activate(self):
        """Open five more."""
        self._open_all('activate')

    def _open_all(self, state):
        self.on_close(lambda: self.closed.append(f'{state} first'))
        self.open_publisher(Float64, f'{state}/output')
        self.open_subscription(Float64, f'{state}/input', lambda _: None)
        self.open_service(Trigger, f'{state}/service', lambda _, response: response)
        self.open_client(Trigger, f'{state}/service')
        self.open_timer(10.0, lambda: None)
        self.on_close(lambda: self.closed.append(f'{state} last'))
        if self.fails == state:
            raise LiedynError('a failure')


@pytest.fixture
def owner(bench):
    """Return a node that a test takes through its life."""
    return bench.start(Owner, autostart=False)


def open_in(node):
    """Return what a node has open, by kind."""
    return {kind: len(list(getattr(node, kind)))
            for kind in ('publishers', 'subscriptions', 'services', 'clients', 'timers')}


def test_what_a_state_opened_is_closed_with_it_in_reverse_order(owner):
    counts = [open_in(owner)]
    for trigger in (owner.trigger_configure, owner.trigger_activate):
        assert trigger() is SUCCESS
        counts.append(open_in(owner))
        assert counts[-1] == {kind: n + 1 for kind, n in counts[-2].items()}
    assert owner.trigger_deactivate() is SUCCESS
    assert open_in(owner) == counts[1]
    assert owner.closed == ['activate last', 'activate first']
    assert owner.trigger_cleanup() is SUCCESS
    assert open_in(owner) == counts[0]
    assert owner.closed[2:] == ['configure last', 'configure first']


@pytest.mark.parametrize(('state', 'earlier'), [('configure', []), ('activate', ['configure'])])
def test_a_transition_that_fails_leaves_nothing_open(owner, state, earlier):
    owner.fails = state
    assert all(getattr(owner, f'trigger_{each}')() is SUCCESS for each in earlier)
    before = open_in(owner)
    assert getattr(owner, f'trigger_{state}')() is FAILURE
    assert open_in(owner) == before
    assert owner.closed == [f'{state} last', f'{state} first']
    assert not owner.active


@pytest.mark.parametrize('end', ['trigger_shutdown', 'destroy_node'])
def test_the_end_closes_everything(bench, other_context, namespace, end):
    node = Owner(context=other_context, namespace=namespace)
    assert node.active
    getattr(node, end)()
    assert node.closed == ['activate last', 'activate first', 'configure last', 'configure first']
    assert not node.active and not node.configured


def test_a_publisher_that_is_opened_by_activate_publishes(bench, owner):
    received = bench.collect(Float64, 'activate/output')
    assert owner.trigger_configure() is SUCCESS
    assert owner.trigger_activate() is SUCCESS
    publisher, = (p for p in owner.publishers if p.topic_name.endswith('activate/output'))
    bench.until(lambda: received, 'a message', act=lambda: publisher.publish(Float64(data=0.5)))
    assert received[0].data == 0.5


def test_qos_can_be_overridden_where_it_is_opened(bench):
    node = bench.add(Owner, ['--ros-args', '-p', f'qos_overrides.{bench.namespace}/configure/'
                             'output.publisher.depth:=3'], autostart=False)
    assert node.trigger_configure() is SUCCESS
    publisher, = (p for p in node.publishers if p.topic_name.endswith('configure/output'))
    info, = node.get_publishers_info_by_topic(publisher.topic_name)
    assert node.get_parameter(
        f'qos_overrides.{publisher.topic_name}.publisher.depth').value == 3
    assert info.topic_type == 'std_msgs/msg/Float64'


def test_the_rate_of_a_timer_is_set_and_taken_away(bench, owner):
    ticks = []
    timer = owner.open_timer(0.0, lambda: ticks.append(None))
    assert timer.is_canceled()
    set_rate(timer, 200.0)
    bench.until(lambda: len(ticks) >= 3, 'three ticks')
    set_rate(timer, 0.0)
    assert timer.is_canceled()


def test_a_node_logs_the_warnings_of_the_core(bench):
    before = list(CORE.handlers)
    node = bench.start(Owner)
    logging.getLogger('liedyn_ros.stewart').warning('a file is damaged')
    bench.until_logged(node, 'a file is damaged', LoggingSeverity.WARN)
    node.destroy_node()
    assert CORE.handlers == before


def test_nothing_is_imported_once_the_node_tracks(bench):
    node = PoseBench(bench, leg_noise=1e-5, leg_rate_noise=1e-3)
    lengths = [leg_lengths(GEOMETRY, pose) for pose in (NEAR, FAR)]
    node.settle()
    modules = set(sys.modules)
    for each in lengths:
        node.pose_at(node.send(each))
    assert node.bench.call(Trigger, 'stewart_pose/reset').success
    assert node.bench.call(SolveStewartPose, 'stewart_pose/solve',
                           leg_names=LEGS, lengths=lengths[0]).success
    assert node.bench.call(PredictStewartPose, 'stewart_pose/predict',
                           stamp=stamp_of(node.stamp_ns)) is not None
    assert not {name for name in sys.modules if name not in modules
                and name.startswith(('liedyn_ros', 'numba', 'scipy'))}
