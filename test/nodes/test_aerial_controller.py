# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The aerial manipulator's controller: a flight, and a server that is missing, slow or wrong."""

from itertools import count

from diagnostic_msgs.msg import DiagnosticArray
from liedyn_interfaces.msg import TreeEffort
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from support.aerial_bench import Controller, HOVER, JOINTS, MACHINE, PERIOD_NS, ROTORS, SERVICE
from support.pose_bench import ns, stamp_of

from liedyn_ros.nodes.aerial_manipulator_controller import AerialManipulatorControllerNode
from liedyn_ros.nodes.aerial_manipulator_simulator import AerialManipulatorSimulatorNode
from liedyn_ros.nodes.dynamics_server import DynamicsServerNode

pytestmark = pytest.mark.ros


def hover(answer, force=HOVER, success=True, message=''):
    """Fill in an answer: a force up and torques in the order of the joints asked about."""
    effort = TreeEffort(joints=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    effort.base.force.z = force
    answer.efforts, answer.success, answer.message = [effort], success, message


@pytest.mark.smoke
def test_flies_through_the_server(bench):
    bench.start(DynamicsServerNode, model_file='aerial_manipulator.yaml')
    bench.start(AerialManipulatorSimulatorNode, publish_rate=50.0)
    errors = bench.collect(JointState, 'tracking_error')
    odometry = bench.collect(Odometry, 'odometry')
    references = bench.collect(Odometry, 'reference')
    bench.start(AerialManipulatorControllerNode)
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
    """Two questions with joints in different orders wait at once."""
    controller = Controller(bench)
    wanted = dict(zip(JOINTS, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))

    def answer(answer):
        hover(answer)
        answer.efforts[0].joints = [wanted[n] for n in controller.queries[-1].state.joint_names]

    controller.serve(answer)
    looks = count()

    def both():
        if next(looks) % 10 == 0:
            for names in (JOINTS, JOINTS[::-1]):
                controller.send(names=names)

    bench.until(lambda: len(controller.torques) > 7, 'commands', both)
    for torques in controller.torques:
        assert dict(zip(torques.name, torques.effort)) == pytest.approx(wanted)


def test_errors_ask_for_an_acceleration_back(bench):
    """At the start of the reference: 3 pole^2 times the error, in x."""
    controller = Controller(bench)
    controller.serve(lambda answer: hover(answer, success=False, message='not now'))
    controller.until(lambda: controller.queries, 'a query', x=1.1)
    acceleration, = controller.queries[0].accelerations
    assert acceleration.base.linear.x == pytest.approx(-3.0 * 5.0**2 * 0.1)
    np.testing.assert_allclose(acceleration.joints, 0.0, atol=1e-12)
    np.testing.assert_allclose(
        controller.errors[0].position, [0, 0, 0, 0.1, *[0] * 8], atol=1e-12)


def test_missing_server_is_said(bench):
    controller = Controller(bench)
    controller.until(lambda: bench.logged(controller.node), 'a complaint')
    bench.until_logged(controller.node, f'{SERVICE}: expected the service, found none; no flight')
    assert controller.speeds == []


def test_refusals_hold_the_last_command(bench):
    controller, answers = Controller(bench), []

    def answer(message):
        answers.append(message)
        hover(message, HOVER + len(answers), len(answers) < 3, 'no model')

    controller.serve(answer)
    controller.until(lambda: len(controller.speeds) > 5, 'commands')
    bench.until_logged(controller.node, f'{SERVICE}: no model; the last command is held')
    first, second, *held = (list(speeds.velocity) for speeds in controller.speeds)
    assert first != second
    assert all(speeds == second for speeds in held)


def test_late_replies_are_given_up_and_counted(bench):
    """The second of two states is later than the reply to the first may be."""
    controller = Controller(bench, reply_timeout=0.05)
    reports = bench.collect(DiagnosticArray, '/diagnostics')
    controller.serve(hover)
    controller.until(lambda: controller.speeds, 'a command')
    controller.until(lambda: bench.logged(controller.node), 'a complaint',
                     steps_ns=(PERIOD_NS, 20 * PERIOD_NS))
    bench.until_logged(controller.node, f'{SERVICE}: expected a reply within 0.05 s, got none; '
                       'the last command is held')
    name = f'{controller.node.get_fully_qualified_name()}: calls of {SERVICE}'
    values = bench.until(
        lambda: [v for report in reports for status in report.status if status.name == name
                 for v in status.values if v.key == 'given up' and v.value != '0'], 'a report')
    assert int(values[0].value) > 0


def test_limits_are_respected_and_named(bench):
    controller = Controller(bench)
    controller.serve(lambda answer: hover(answer, 1e4))
    controller.until(lambda: controller.speeds, 'a command')
    assert max(controller.speeds[0].velocity) <= 1400.0
    bench.until_logged(controller.node, 'at a limit: rotor_')


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
    logged = bench.until(lambda: bench.logged(controller.node), 'a complaint')
    assert 'expected odometry and joint_states of one stamp every 0.05 s' in logged[0]


def test_silence_is_counted_from_when_the_clock_starts(bench):
    clock, now_ns = bench.publisher(Clock, '/clock'), 100_000_000_000
    controller = Controller(bench, use_sim_time=True, state_timeout=0.5)

    def step():
        nonlocal now_ns
        now_ns += 10_000_000
        clock.publish(Clock(clock=stamp_of(now_ns)))

    logged = bench.until(lambda: bench.logged(controller.node), 'a complaint', step)
    assert ', got none for 0.' in logged[0]


def test_time_set_back_begins_the_reference_anew(bench):
    controller = Controller(bench)
    controller.serve(hover)
    controller.until(lambda: len(controller.errors) > 1 and controller.speeds, 'a command')
    controller.until(lambda: abs(controller.errors[-1].position[4]) > 0.1, 'a long way',
                     steps_ns=[20 * PERIOD_NS])
    controller.stamp_ns = 500_000_000
    controller.errors.clear()
    controller.until(lambda: controller.errors and ns(controller.errors[-1]) < 1_000_000_000,
                     'an error after the step', steps_ns=[1])
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
