# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Fly an aerial manipulator along its reference: three node processes, a recorder, a report."""

from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
import numpy as np
from sensor_msgs.msg import JointState

from liedyn_ros.aerial import AerialManipulator, Reference
from liedyn_ros.common.resources import config_file
from liedyn_ros.common.tables import print_table
from liedyn_ros.demo.aerial import plots
from liedyn_ros.demo.aerial.flight import RecordedFlight
from liedyn_ros.demo.drawing import Drawings
from liedyn_ros.demo.recorder import deep, Recorder
from liedyn_ros.demo.session import Session
from liedyn_ros.model import load_model, Model, scale_masses, to_urdf
from liedyn_ros.ros.messages.conversions import nanoseconds

DURATION = 12.0  # s of flight
MASS_ERROR = 0.05  # of all masses and inertias that the server, and so the controller, knows
SETTLED = 2.0  # s after which the bounds hold
MAX_POSITION_ERROR, MAX_ATTITUDE_ERROR = 0.01, 1.0  # m, degree
MIN_RATE, REAL_TIME = 200.0, 0.95  # Hz, real-time factor; below them the machine was too busy
MAX_COMMAND_AGE = 0.02  # s; a third of the delay the loop bears; simulated time then waits
TOPICS = {'odometry': Odometry, 'joint_states': JointState, 'rotor_speeds': JointState,
          'joint_torques': JointState, '/diagnostics': DiagnosticArray}


def run(folder: Path, drawings: Drawings) -> bool:
    """Run the demo, write its pictures into a folder, and return whether the bounds held."""
    folder.mkdir(parents=True, exist_ok=True)
    machine = AerialManipulator(load_model(config_file('aerial_manipulator.yaml')))
    reference = Reference()
    print(f'\nAerial manipulator: simulator, dynamics server and controller as three processes, '
          f'{DURATION:g} s of flight\n  The server knows all masses {100 * MASS_ERROR:g} % '
          'too large; it is asked for every command.')
    flight = RecordedFlight.of(machine, reference, DURATION, record(machine.model, folder))
    good = report(flight)
    drawings.draw(plots.draw, flight, machine, folder)
    print(f'  {"tracked" if good else "NOT TRACKED"}; pictures in {folder}/')
    return good


def record(model: Model, folder: Path) -> Recorder:
    """Fly, and return the recording."""
    known = folder / 'aerial_manipulator_as_known.urdf'
    known.write_text(to_urdf(scale_masses(model, 1.0 + MASS_ERROR)), encoding='utf-8')
    with Session(TOPICS, folder) as session:
        recorder = session.recorder
        session.start('dynamics.server', model_file=known, floating=True, use_sim_time=True)
        session.start('aerial.controller', use_sim_time=True,
                      **deep('rotor_speeds', 'joint_torques'))
        session.start('aerial.simulator', publish_clock=True, max_command_age=MAX_COMMAND_AGE,
                      **deep('odometry', 'joint_states'))
        session.wait_for('a command of a state', lambda: all(
            recorder.count(topic) for topic in ('odometry', 'rotor_speeds')))
        watch(session)
    return recorder


def watch(session: Session) -> None:
    """Record the flight, with progress, a second longer than it is looked at."""
    recorder = session.recorder
    begin = stamp(recorder)
    for seconds in range(1, round(DURATION) + 2):
        fly_until(session, begin + seconds)
        if seconds <= DURATION:
            print(f'  {seconds:2d} s of {DURATION:g}: {recorder.count("odometry"):6d} states, '
                  f'{recorder.count("rotor_speeds"):6d} commands', flush=True)


def fly_until(session: Session, end: float) -> None:
    """Record until a time of the states, s."""
    session.wait_for('another second of flight', lambda: stamp(session.recorder) >= end)


def stamp(recorder: Recorder) -> float:
    """Return the time of the newest state, s."""
    return 1e-9 * nanoseconds(recorder.latest('odometry').header.stamp)


def report(flight: RecordedFlight) -> bool:
    """Print the measurements and return whether they are within the bounds."""
    settled = flight.times >= SETTLED
    rows = []
    for name, error, most in (
            ('position error, mm', 1e3 * flight.position_errors, 1e3 * MAX_POSITION_ERROR),
            ('attitude error, deg', np.degrees(flight.attitude_errors), MAX_ATTITUDE_ERROR),
            ('largest joint error, deg', np.degrees(flight.joint_errors), None)):
        rows.append([name, f'{np.median(error):.3g}', f'{error.max():.3g}',
                     f'{error[settled].max():.3g}', '' if most is None else f'{most:g}'])
    print_table(['', 'median', 'largest', f'largest after {SETTLED:g} s', 'bound'], rows)
    print()
    print_table(['', 'measured', 'bound'], [
        ['commands a second of flight', f'{flight.rate:.1f}', f'{MIN_RATE:g} or more'],
        ['real-time factor', f'{flight.real_time_factor:.3f}', ''],
        *([name, value, ''] for name, value in (flight.calls | flight.pace).items()),
        ['rotor speeds, rad/s', f'{flight.speeds.min():.0f} to {flight.speeds.max():.0f}',
         '0 to 1400']])
    tracked = bool(flight.position_errors[settled].max() < MAX_POSITION_ERROR
                   and np.degrees(flight.attitude_errors[settled].max()) < MAX_ATTITUDE_ERROR)
    if flight.real_time_factor < REAL_TIME:
        print('  This machine was too busy for real time.')
    elif flight.rate < MIN_RATE:
        print(f'  This machine was too busy for {MIN_RATE:g} commands a second.')
    return tracked
