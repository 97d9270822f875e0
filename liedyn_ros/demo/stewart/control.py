# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Move a platform by lagging legs: three node processes, a recorder, a report."""

from pathlib import Path

from geometry_msgs.msg import Point, Pose, PoseStamped
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from liedyn_ros.common.tables import print_table
from liedyn_ros.demo.drawing import Drawings
from liedyn_ros.demo.recorder import deep, Recorder
from liedyn_ros.demo.session import Session
from liedyn_ros.demo.stewart import control_plots
from liedyn_ros.demo.stewart.controlled_motion import ControlledMotion
from liedyn_ros.ros.messages.conversions import nanoseconds

RATE, PHASE = 200.0, 5.0  # Hz; s of motion before the controller knows the lag, and after
LAG = 0.02  # s, of the forces of all legs
FREQUENCY = 0.4  # Hz, of all coordinates, so that both phases hold the same motion
SETTLED = 2.0  # s of a phase after which its errors count
MAX_COMMAND_AGE = 0.01  # s; a fifth of the delay that the loop bears; simulated time then waits
MAX_POSITION_ERROR, MAX_ATTITUDE_ERROR = 3.0, 0.5  # mm, degree; with the lag made up for
MIN_GAIN = 3.0  # of both errors by force rates
MAX_POSE_ERROR = 1e-9  # rad and m, of the pose that the controller is given
REAL_TIME = 0.95  # real-time factor from which the gain is judged
HOME = Point(z=0.5)  # m, of the default parameters
TOPICS = {'true_pose': PoseStamped, 'pose': PoseStamped, 'reference': PoseStamped}


def run(folder: Path, drawings: Drawings) -> bool:
    """Run the demo, write its picture into a folder, and return whether the bounds held."""
    folder.mkdir(parents=True, exist_ok=True)
    print(f'\nStewart platform under leg forces: simulator, pose node and controller as three '
          f'processes\n  Forces lag by {1e3 * LAG:g} ms, which the controller knows after '
          f'{PHASE:g} s.')
    recorder, known_ns = record(folder)
    motion = ControlledMotion.of(recorder, known_ns, SETTLED)
    good = report(motion)
    drawings.draw(control_plots.draw, motion, folder)
    print(f'  {"tracked" if good else "NOT TRACKED"}; picture in {folder}/')
    return good


def record(folder: Path) -> tuple[Recorder, int]:
    """Run both phases; return the recording, and the time (ns) at which the second began."""
    with Session(TOPICS, folder) as session:
        recorder = session.recorder
        session.start('stewart.pose', 'stewart_control_pose', use_sim_time=True, **deep('pose'))
        session.start('stewart.controller', 'stewart_control_controller', use_sim_time=True,
                      frequencies=[FREQUENCY] * 6, **deep('leg_forces', 'reference'))
        session.start('stewart.dynamics_simulator', 'stewart_control_dynamics_simulator',
                      publish_clock=True, max_command_age=MAX_COMMAND_AGE, rate=RATE,
                      leg_lag=LAG, **deep('true_pose'))
        session.wait_for('motion', lambda: recorder.count('true_pose') > 0
                         and moved(recorder.latest('true_pose').pose))
        # Not before: the reference begins with the first subscriber of the commands.
        recorder.record('leg_forces', JointState)
        watch(session)
        set_lag(session)
        known_ns = stamp_ns(recorder)
        watch(session)
    return recorder, known_ns


def moved(pose: Pose) -> bool:
    """Return whether a pose is another than home, where the platform is held at first."""
    return pose.position != HOME


def watch(session: Session) -> None:
    """Record a phase, with progress."""
    recorder = session.recorder
    begin_ns = stamp_ns(recorder)
    for seconds in range(1, round(PHASE) + 1):
        move_until(session, begin_ns + seconds * 1_000_000_000)
        print(f'  {seconds:2d} s of {PHASE:g}: {recorder.count("true_pose"):6d} samples, '
              f'{recorder.count("leg_forces"):6d} commands', flush=True)


def move_until(session: Session, end_ns: int) -> None:
    """Record until a time of the poses, ns."""
    session.wait_for('another second of motion', lambda: stamp_ns(session.recorder) >= end_ns)


def stamp_ns(recorder: Recorder) -> int:
    """Return the time of the newest pose, ns."""
    return nanoseconds(recorder.latest('true_pose').header.stamp)


def set_lag(session: Session) -> None:
    """Set the lag in the controller."""
    client = session.recorder.create_client(SetParameters, 'stewart_controller/set_parameters')
    future = client.call_async(SetParameters.Request(
        parameters=[Parameter('leg_lag', value=LAG).to_parameter_msg()]))
    session.wait_for('the parameter leg_lag to be set', future.done)
    print('  the controller knows the lag', flush=True)


def report(motion: ControlledMotion) -> bool:
    """Print the measurements and return whether they are within the bounds."""
    unknown, known = motion.largest(known=False), motion.largest(known=True)
    bounds = MAX_POSITION_ERROR, MAX_ATTITUDE_ERROR
    print_table(['largest error', 'lag not known', 'made up for', 'factor', 'bound'],
                [[name, f'{u:.3g}', f'{t:.3g}', f'{u / t:.1f}', f'{bound:g}']
                 for name, u, t, bound in zip(('position, mm', 'attitude, deg'),
                                              unknown, known, bounds)])
    print(f'  {motion.rate:.0f} commands a second of motion, real-time factor '
          f'{motion.real_time_factor:.3f}, poses within {motion.pose_error:.2g} rad and m')
    good = all(t < bound for t, bound in zip(known, bounds))
    if motion.pose_error > MAX_POSE_ERROR:
        print('  a pose was wrong')
        good = False
    if motion.real_time_factor < REAL_TIME:
        print('  This machine was too busy for real time, which the factor needs.')
        return good
    return good and all(u > MIN_GAIN * t for u, t in zip(unknown, known))
