# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The aerial manipulator's controller: a flight, and a server that is missing, slow or wrong."""

from itertools import count
import re

from diagnostic_msgs.msg import DiagnosticStatus
from liedyn_interfaces.msg import TreeEffort
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rclpy.logging import LoggingSeverity
from rclpy.task import Future
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from support.bench.aerial_bench import (
    Controller, HOVER, JOINTS, MACHINE, PERIOD_NS, ROTORS, SERVICE)
from support.bench.pose_bench import ns, stamp_of

from liedyn_ros.aerial import Reference
from liedyn_ros.control.follower import Phase
from liedyn_ros.nodes.aerial.controller import AerialManipulatorControllerNode, REFERENCE_START
from liedyn_ros.nodes.aerial.simulator import AerialManipulatorSimulatorNode
from liedyn_ros.nodes.dynamics.server import DynamicsServerNode

pytestmark = pytest.mark.ros


def hover(answer, force=HOVER, success=True, message=''):
    """Fill in an answer: a force up and torques in the order of the joints asked about."""
    effort = TreeEffort(joints=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    effort.base.force.z = force
    answer.efforts, answer.success, answer.message = [effort], success, message


@pytest.mark.smoke
def test_flies_through_the_server(bench):
    """As on a busy machine, which has no part in the errors: simulated time waits for commands."""
    bench.start(DynamicsServerNode, model_file='aerial_manipulator.yaml', use_sim_time=True)
    bench.start(AerialManipulatorSimulatorNode, publish_rate=50.0, publish_clock=True,
                max_command_age=0.04)
    errors = bench.collect(JointState, 'tracking_error')
    odometry = bench.collect(Odometry, 'odometry')
    references = bench.collect(Odometry, 'reference')
    bench.start(AerialManipulatorControllerNode, use_sim_time=True)
    bench.until(lambda: odometry and odometry[-1].pose.pose.position.x < 0.97, 'a piece of circle')
    assert list(errors[-1].name) == list(MACHINE.model.coordinate_names)
    assert np.linalg.norm(errors[-1].position[3:6]) < 0.01
    assert np.degrees(np.linalg.norm(errors[-1].position[:3])) < 1.0
    assert {reference.child_frame_id for reference in references} == {'reference'}


def test_commands_are_what_the_server_answers(bench):
    controller = Controller(bench)
    controller.serve(hover)
    controller.until(lambda: controller.speeds and controller.torques, 'a command',
                     names=JOINTS[::-1])
    speeds, torques = controller.speeds[0], controller.torques[0]
    assert ns(speeds) == ns(torques) == ns(controller.queries[0])
    np.testing.assert_allclose(
        MACHINE.allocation.wrench([dict(zip(speeds.name, speeds.velocity))[r] for r in ROTORS]),
        [0, 0, 0, 0, 0, HOVER], atol=1e-9)
    np.testing.assert_allclose([dict(zip(torques.name, torques.effort))[j] for j in JOINTS[::-1]],
                               [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])


def test_answers_keep_the_order_of_their_own_question(bench):
    """States with joints in two orders, by turns."""
    controller, looks = Controller(bench), count()
    wanted = dict(zip(JOINTS, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))

    def answer(answer):
        hover(answer)
        answer.efforts[0].joints = [wanted[n] for n in controller.queries[-1].state.joint_names]

    def by_turns():
        look = next(looks)
        if look % 10 == 0:
            controller.send(names=JOINTS if look % 20 else JOINTS[::-1])

    controller.serve(answer)
    bench.until(lambda: len(controller.torques) > 7 and 1 < len(
        {tuple(query.state.joint_names) for query in controller.queries}), 'commands', by_turns)
    for torques in controller.torques:
        assert dict(zip(torques.name, torques.effort)) == pytest.approx(wanted)


def test_only_the_newest_state_is_asked_about_after_a_reply(bench):
    controller = Controller(bench)
    controller.gate = Future()
    controller.serve(hover)
    controller.until(lambda: controller.reported('states passed over') > 2, 'a report')
    assert len(controller.queries) == 1
    controller.gate.set_result(None)
    controller.until(lambda: len(controller.speeds) > 3, 'commands')
    stamps = [ns(query) for query in controller.queries]
    assert stamps[1] > stamps[0] + 3 * PERIOD_NS
    commanded = [ns(speeds) for speeds in controller.speeds]
    assert commanded == sorted(commanded)


def test_a_state_whose_answer_comes_too_late_is_counted(bench):
    """It has no command, as a newer one has had the node's own; others were never asked about."""
    controller = Controller(bench)
    controller.serve(hover)
    controller.until(lambda: len(controller.speeds) > 3, 'commands')
    controller.gate = Future()
    late = controller.until(lambda: ns(controller.speeds[-1]) > 4 * PERIOD_NS + ns(
        controller.queries[-1]) and ns(controller.queries[-1]), 'commands of its own')
    controller.gate.set_result(None)
    controller.until(lambda: ns(controller.queries[-1]) > late, 'the next query')
    bench.until(lambda: ns(controller.queries[-1]) == ns(controller.errors[-1]), 'the last query')
    assert late not in {ns(each) for each in controller.speeds}

    def in_balance():
        # States that the node saw: on a busy machine some are lost on their way.
        seen = {ns(each) for each in controller.errors}
        answered = {ns(each) for each in controller.torques if 0.6 in each.effort}
        # One asked about may have had the node's own command before: either count is right.
        return len(seen) - len(controller.queries) < controller.reported(
            'states passed over') <= len(seen) - len(answered)

    bench.until(in_balance, 'a report')


def test_errors_ask_for_an_acceleration_back(bench):
    """At the start of the reference: 3 pole^2 times the error, in x."""
    controller = Controller(bench)
    controller.serve(lambda answer: hover(answer, success=False, message='not now'))
    controller.until(lambda: controller.queries, 'a query', x=1.01)
    acceleration, = controller.queries[0].accelerations
    assert acceleration.base.linear.x == pytest.approx(-3.0 * 5.0**2 * 0.01)
    np.testing.assert_allclose(acceleration.joints, 0.0, atol=1e-12)
    np.testing.assert_allclose(
        controller.errors[0].position, [0, 0, 0, 0.01, *[0] * 8], atol=1e-12)


def test_a_great_error_asks_for_no_more_than_the_rotors_can(bench):
    controller = Controller(bench)
    controller.serve(lambda answer: hover(answer, success=False, message='not now'))
    controller.until(lambda: controller.queries, 'a query', x=9.0)
    most = MACHINE.authority(Reference().at(0.0).q)
    assert controller.queries[0].accelerations[0].base.linear.x == pytest.approx(-most[3])


def test_a_missing_server_is_reported(bench):
    controller = Controller(bench)
    controller.until(lambda: bench.logged(controller.node, LoggingSeverity.WARN), 'a warning')
    bench.until_logged(controller.node, f'{SERVICE}: expected the service, found none; no flight',
                       LoggingSeverity.WARN)
    assert (controller.speeds, bench.logged(controller.node)) == ([], [])
    warning = [(DiagnosticStatus.WARN, 'no server')]
    controller.until(lambda: told(controller) == warning, 'a report')
    controller.serve(hover)
    controller.until(lambda: controller.speeds and told(controller)[1:] == [
        (DiagnosticStatus.OK, 'every reply in time')], 'a command and another report')


def told(controller):
    """Return the levels and messages of the reports on calls, each once."""
    return list(dict.fromkeys((status.level, status.message) for status in controller.calls()))


@pytest.mark.full
def test_failures_lead_to_a_hover_of_its_own(bench):
    controller, answers = Controller(bench, reply_timeout=1.0), []

    def answer(message):
        answers.append(message)
        hover(message, success=len(answers) < 3, message='no model')

    controller.serve(answer)
    controller.until(lambda: controller.reported('failed') > 2, 'a report of failures')
    bench.until_logged(controller.node, f'{SERVICE}: no model; the vehicle hovers by its own')
    controller.until(lambda: controller.flight() == (
        DiagnosticStatus.ERROR, Phase.HOVERING.value), 'a report of the hover',
        step_ns=10 * PERIOD_NS)
    assert len(controller.speeds) > 2
    lift = MACHINE.allocation.wrench(controller.speeds[-1].velocity)[5]
    assert lift == pytest.approx(HOVER, rel=0.2)
    assert controller.reported('refused') == 0


def test_another_model_in_flight_is_refused(bench):
    controller, answers = Controller(bench, reply_timeout=0.05), []

    def answer(message):
        answers.append(message)
        hover(message)
        message.model = 'first' if len(answers) < 5 else 'second'

    controller.serve(answer)
    controller.until(lambda: controller.reported('failed'), 'a report of failures')
    bench.until_logged(
        controller.node, 'model: expected that of this flight, first, got second')
    controller.until(lambda: controller.flight()[1] == Phase.HOVERING.value, 'a hover',
                     step_ns=10 * PERIOD_NS)


def test_late_replies_correct_commands_of_its_own(bench):
    controller = Controller(bench)
    controller.serve(hover)
    controller.until(lambda: controller.speeds, 'a command')
    controller.gate = Future()
    asked, commands = len(controller.queries), len(controller.speeds)
    controller.until(lambda: len(controller.speeds) > commands + 5, 'commands without replies')
    assert len(controller.queries) <= asked + 1
    controller.gate.set_result(None)
    controller.until(lambda: controller.flight() == (
        DiagnosticStatus.OK, Phase.FOLLOWING.value), 'a flight that goes on')


def test_states_that_stop_lead_to_a_stop_in_time(bench):
    controller = Controller(bench, state_timeout=0.2, stop_time=0.6)
    controller.serve(hover)
    controller.until(lambda: controller.speeds, 'a command')
    bench.until(lambda: controller.flight() == (
        DiagnosticStatus.ERROR, Phase.STOPPED.value), 'a stop')
    assert max(controller.speeds[-1].velocity) == 0.0
    assert max(map(max, (speeds.velocity for speeds in controller.speeds))) > 0.0
    bench.until_logged(controller.node, Phase.STOPPED.value)
    stopped = len(controller.speeds)
    controller.until(lambda: len(controller.speeds) > stopped + 5, 'states that come again')
    assert all(max(speeds.velocity) == 0.0 for speeds in controller.speeds[stopped:])


def test_a_server_that_is_not_ready_is_waited_for(bench):
    """And asked rarely: at each tenth state here."""
    controller, answers = Controller(bench), []

    def answer(message):
        answers.append(message)
        hover(message, success=len(answers) > 2, message='not configured yet')

    controller.serve(answer)
    controller.until(lambda: controller.speeds, 'a command')
    bench.until_logged(controller.node, f'{SERVICE}: not configured yet; no flight yet',
                       LoggingSeverity.WARN)
    controller.until(lambda: controller.reported('refused'), 'a report')
    assert (DiagnosticStatus.WARN, 'requests were given up, refused or failed') in told(controller)
    assert bench.logged(controller.node) == []
    assert (controller.reported('refused'), controller.reported('failed')) == (2, 0)
    assert np.diff([ns(query) for query in controller.queries[:3]]).min() >= 10 * PERIOD_NS


def test_lost_replies_are_given_up_and_counted(bench):
    controller = Controller(bench, reply_timeout=0.05)
    controller.serve(hover)
    controller.until(lambda: controller.speeds, 'a command')
    controller.gate = Future()
    controller.until(lambda: controller.reported('given up'), 'a report')
    bench.until_logged(controller.node, f'{SERVICE}: expected a reply within 0.05 s, got none; '
                       'the vehicle hovers by its own model')
    held, newest = len(controller.speeds), ns(controller.queries[-1])
    controller.gate.set_result(None)
    controller.until(lambda: len(controller.speeds) > held + 2, 'commands again')
    assert ns(controller.speeds[held]) >= newest


def test_limits_are_respected_and_named(bench):
    """An error of attitude takes more than the rotors give, and the server says so, too."""
    controller = Controller(bench)
    controller.serve(hover)
    controller.until(lambda: controller.speeds, 'a command')
    command = controller.node._control.machine.command
    controller.node._control.machine.command = lambda tau, q: command(100.0 * tau, q)
    flown = len(controller.speeds)
    controller.until(lambda: len(controller.speeds) > flown + 2, 'a command')
    assert max(controller.speeds[-1].velocity) <= 1400.0
    bench.until_logged(controller.node, 'at a limit: rotor_')


@pytest.mark.parametrize(('force', 'step_ns', 'reason'), [
    (1e4, 0, 'efforts: expected efforts within the limits'), (HOVER, 1, 'the stamp of the query')])
def test_answers_beyond_the_actuators_or_to_another_question_are_none(
        bench, force, step_ns, reason):
    controller = Controller(bench)

    def answer(message):
        hover(message, force)
        message.header.stamp = stamp_of(ns(message) + step_ns)

    controller.serve(answer)
    controller.until(lambda: controller.reported('refused'), 'a report of refusals')
    bench.until_logged(controller.node, reason)
    assert controller.speeds == []


def test_a_second_publisher_of_states_is_named_and_counts_as_none(bench):
    controller = Controller(bench)
    controller.serve(hover)
    controller.until(lambda: controller.reported(REFERENCE_START), 'a report of the flight')
    begun = controller.reported(REFERENCE_START)
    bench.publisher(Odometry, 'odometry')
    controller.until(lambda: 'states of 2 nodes' in controller.flight()[1], 'a report of both')
    controller.until(lambda: bench.logged(controller.node), 'a complaint', x=5.0)
    bench.until_logged(controller.node, 'odometry: expected one publisher')
    controller.until(lambda: controller.flight()[1].startswith(Phase.FOLLOWING.value), 'a flight')
    assert controller.reported(REFERENCE_START) == begun


@pytest.mark.parametrize(('state', 'reason'), [
    ({'frame': 'hull'}, "child_frame_id: expected 'base'"),
    ({'names': [*JOINTS[:5], 'tail']}, "missing ['right_elbow'], unknown ['tail']"),
    ({'x': np.nan}, 'expected a finite number, got nan'),
    ({'joint': np.inf}, 'expected a finite number, got inf'),
])
def test_bad_states_are_refused(bench, state, reason):
    controller = Controller(bench)
    controller.serve(hover)
    controller.until(lambda: bench.logged(controller.node), 'a complaint', **state)
    bench.until_logged(controller.node, reason)
    assert controller.queries == []


def test_silence_is_reported(bench):
    controller = Controller(bench, state_timeout=0.05)
    logged = bench.until(
        lambda: bench.logged(controller.node, LoggingSeverity.WARN), 'a warning')
    assert 'expected odometry and joint_states of one stamp every 0.05 s' in logged[0]


def test_silence_is_counted_from_when_the_clock_starts(bench):
    clock, now_ns = bench.publisher(Clock, '/clock'), 100_000_000_000
    controller = Controller(bench, use_sim_time=True, state_timeout=0.5)

    def step():
        nonlocal now_ns
        now_ns += 10_000_000
        clock.publish(Clock(clock=stamp_of(now_ns)))

    logged = bench.until(
        lambda: bench.logged(controller.node, LoggingSeverity.WARN), 'a warning', step)
    silence = float(re.search(r', got none for (\S+) s', logged[0])[1])
    assert 0.5 <= silence <= 1e-9 * (now_ns - 100_000_000_000) + 0.05


def test_time_set_back_starts_the_reference_again(bench):
    controller = Controller(bench, rise_time=Reference().rise_time)
    controller.serve(hover)
    controller.until(lambda: len(controller.errors) > 1 and controller.speeds, 'a command')
    controller.until(lambda: abs(controller.errors[-1].position[4]) > 0.1, 'a long way',
                     step_ns=20 * PERIOD_NS)
    controller.stamp_ns = 500_000_000
    controller.errors.clear()
    controller.until(lambda: controller.errors and ns(controller.errors[-1]) < 1_000_000_000,
                     'an error after the step', step_ns=1)
    np.testing.assert_allclose(controller.errors[-1].position, 0.0, atol=1e-9)


@pytest.mark.parametrize(('parameters', 'reason'), [
    ({'joint_sweep': [1.0]}, 'joint_sweep: expected 6 numbers'),
    ({'rise_time': 0.0}, 'parameter rise_time: expected double'),
    ({'model_file': 'nowhere.yaml'}, 'nowhere.yaml'),
])
def test_bad_parameters_keep_it_unconfigured(bench, parameters, reason):
    node = bench.start(AerialManipulatorControllerNode, **parameters)
    bench.until_logged(node, reason)
    assert not node.active


def test_gains_change_in_flight(bench):
    controller = Controller(bench)
    controller.serve(hover)
    result, = bench.set_parameters(controller.node, position_pole=2.0)
    assert result.successful
    controller.until(lambda: controller.queries, 'a query', x=1.1)
    acceleration, = controller.queries[0].accelerations
    assert acceleration.base.linear.x == pytest.approx(-3.0 * 2.0**2 * 0.1)
    result, = bench.set_parameters(controller.node, radius=2.0)
    assert not result.successful


def test_a_late_state_is_refused_and_the_flight_goes_on(bench):
    controller = Controller(bench)
    controller.serve(hover)
    controller.until(lambda: controller.speeds, 'a command')
    controller.send(-3 * PERIOD_NS)
    bench.until_logged(controller.node, 'odometry and joint_states: stamp: expected a time after')
    controller.stamp_ns += 3 * PERIOD_NS
    flown = len(controller.speeds)
    controller.until(lambda: len(controller.speeds) > flown
                     and controller.reported(REFERENCE_START),
                     'a command and a report')
    assert controller.reported(REFERENCE_START) == ns(controller.queries[0])


@pytest.mark.parametrize(('step_ns', 'x', 'reason'), [
    (-900_000_000, 1.0, 'the clock was set back'),
    (PERIOD_NS, 0.5, 'the machine was moved elsewhere'),
])
def test_after_a_break_the_reference_starts_again(bench, step_ns, x, reason):
    controller = Controller(bench)
    controller.serve(hover)
    controller.until(lambda: controller.reported(REFERENCE_START), 'a report of the flight')
    begun = controller.reported(REFERENCE_START)
    controller.send(step_ns, x=x)
    asked = len(controller.queries)
    controller.until(lambda: controller.reported(REFERENCE_START) != begun, 'a new flight', x=x)
    bench.until_logged(controller.node, f'{reason}: the reference starts again',
                       LoggingSeverity.WARN)
    assert controller.reported(REFERENCE_START) >= ns(controller.queries[asked])
