# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Fly an aerial manipulator along its reference: three node processes in lockstep, a report."""

from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
import numpy as np
from sensor_msgs.msg import JointState

from liedyn_ros.aerial import AerialManipulator, Reference
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.demo.aerial import plots
from liedyn_ros.demo.aerial.flight import RecordedFlight
from liedyn_ros.demo.lockstep import Lockstep
from liedyn_ros.demo.recorder import deep, DemoRecorder
from liedyn_ros.demo.session import DemoStage, PHYSICS, Session
from liedyn_ros.demo.verdict import DemoVerdict, Outcome, too_few
from liedyn_ros.model import load_model, Model, scale_masses, to_urdf

STATE_RATE, FLIGHT_TIME = 250.0, 12.0  # Hz of states, s of flight
MASS_ERROR = 0.05  # of all masses and inertias that the server, and so the controller, knows
TRANSIENT = 2.0  # s after which the bounds hold
FLIGHT_POSITION_ERROR, FLIGHT_ATTITUDE_ERROR = 0.01, 1.0  # m, degree
REPORT_TIME = 2.0  # s after the flight, in which the nodes report about it
FLIGHT_NODES = 'dynamics_server', 'aerial_manipulator_controller', 'aerial_manipulator_simulator'
FLIGHT_PUBLISHERS = {'odometry': FLIGHT_NODES[1:2], 'joint_states': FLIGHT_NODES[1:2],
                     'rotor_speeds': FLIGHT_NODES[2:], 'joint_torques': FLIGHT_NODES[2:]}
FLIGHT_TOPICS = {'odometry': Odometry, 'joint_states': JointState, 'rotor_speeds': JointState,
                 'joint_torques': JointState, '/diagnostics': DiagnosticArray}


def run(stage: DemoStage) -> DemoVerdict:
    """Run the demo, write its pictures, and return the verdict."""
    machine = AerialManipulator(load_model(config_file('aerial_manipulator.yaml')))
    reference = Reference()
    print(f'\nAerial manipulator: simulator, dynamics server and controller as three processes, '
          f'{FLIGHT_TIME:g} s of flight, physics: {PHYSICS}\n'
          f'  The server knows all masses {100 * MASS_ERROR:g} % '
          'too large; it is asked for every command.')
    flight = RecordedFlight.of(machine, reference, FLIGHT_TIME, record(machine.model, stage))
    report(flight)
    verdict = judge(flight)
    if verdict.outcome is not Outcome.NOT_SHOWN:
        stage.drawings.draw(plots.draw, flight, machine, stage.folder)
    return verdict


def record(model: Model, stage: DemoStage) -> DemoRecorder:
    """Fly, and return the recording."""
    known = stage.folder / 'aerial_manipulator_as_known.urdf'
    known.write_text(to_urdf(scale_masses(model, 1.0 + MASS_ERROR)), encoding='utf-8')
    with Session(FLIGHT_TOPICS, stage) as session:
        lockstep = Lockstep(session, STATE_RATE, tuple(FLIGHT_PUBLISHERS))
        session.start('dynamics.server', 'dynamics_server', model_file=known, floating=True,
                      use_sim_time=True)
        session.start('aerial.controller', 'aerial_manipulator_controller', use_sim_time=True,
                      **deep('rotor_speeds', 'joint_torques'))
        session.start('aerial.simulator', 'aerial_manipulator_simulator', use_sim_time=True,
                      publish_rate=STATE_RATE, simulator=PHYSICS,
                      **deep('odometry', 'joint_states'))
        lockstep.begin(FLIGHT_NODES, FLIGHT_PUBLISHERS)
        lockstep.run(FLIGHT_TIME + REPORT_TIME)
    return session.recorder


def judge(flight: RecordedFlight) -> DemoVerdict:
    """Return the verdict: once settled, the vehicle is within the bounds of its reference."""
    expected, settled = round(STATE_RATE * FLIGHT_TIME), flight.times >= TRANSIENT
    missing = [too_few('states', len(flight.times), expected),
               too_few('commands', len(flight.command_times), expected)]
    if not settled.any():
        return DemoVerdict.of('no settled flight', {}, missing)
    position = float(flight.position_errors[settled].max())
    attitude = float(np.degrees(flight.attitude_errors[settled].max()))
    return DemoVerdict.of(
        f'{len(flight.command_times)} commands of {len(flight.times)} states, '
        f'{flight.times[-1]:.1f} s of flight; after {TRANSIENT:g} s within '
        f'{1e3 * position:.2g} mm and {attitude:.2g} degree', {
            f'the position was off by {1e3 * position:.3g} mm, more than '
            f'{1e3 * FLIGHT_POSITION_ERROR:g}': position > FLIGHT_POSITION_ERROR,
            f'the attitude was off by {attitude:.3g} degree, more than {FLIGHT_ATTITUDE_ERROR:g}':
                attitude > FLIGHT_ATTITUDE_ERROR}, missing)


def report(flight: RecordedFlight) -> None:
    """Print the measurements."""
    settled = flight.times >= TRANSIENT
    if settled.any():
        print_table(['', 'median', 'largest', f'largest after {TRANSIENT:g} s', 'bound'], [
            [name, f'{np.median(error):.3g}', f'{error.max():.3g}', f'{error[settled].max():.3g}',
             bound] for name, error, bound in (
                ('position error, mm', 1e3 * flight.position_errors,
                 f'{1e3 * FLIGHT_POSITION_ERROR:g}'),
                ('attitude error, deg', np.degrees(flight.attitude_errors),
                 f'{FLIGHT_ATTITUDE_ERROR:g}'),
                ('largest joint error, deg', np.degrees(flight.joint_errors), ''))])
        print()
    print_table(['', 'measured'], [
        *([name, value] for name, value in flight.calls.items()),
        ['rotor speeds, rad/s', f'{flight.speeds.min():.0f} to {flight.speeds.max():.0f}, of '
                                '0 to 1400']])
