# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Move a platform by lagging legs: three node processes in lockstep, a recorder, a report."""

from geometry_msgs.msg import PoseStamped
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from liedyn_ros.common.markup import print_table
from liedyn_ros.demo.lockstep import Lockstep
from liedyn_ros.demo.recorder import deep, DemoRecorder
from liedyn_ros.demo.session import DemoStage, PHYSICS, Session
from liedyn_ros.demo.stewart import plots
from liedyn_ros.demo.stewart.controlled_motion import ControlledMotion
from liedyn_ros.demo.verdict import DemoVerdict, Outcome, too_few

# Hz; s of motion before the controller knows the lag, and after
CONTROL_RATE, PHASE_DURATION = 200.0, 5.0
LAG = 0.02  # s, of the forces of all legs
MOTION_FREQUENCY = 0.4  # Hz, of all coordinates, so that both phases hold the same motion
TRANSIENT = 2.0  # s of a phase after which its errors count
CONTROL_POSITION_ERROR, CONTROL_ATTITUDE_ERROR = 3.0, 0.5  # mm, degree; with the lag made up for
MIN_GAIN = 3.0  # of both errors by force rates
MAX_GIVEN_ERROR = 1e-9  # rad and m, of the pose that the controller is given
CONTROL_NODES = 'stewart_pose', 'stewart_controller', 'stewart_dynamics_simulator'
CONTROL_PUBLISHERS = {'leg_states': ['stewart_pose'], 'pose': ['stewart_controller'],
                      'twist': ['stewart_controller'],
                      'leg_forces': ['stewart_dynamics_simulator']}
CONTROL_TOPICS = {'true_pose': PoseStamped, 'pose': PoseStamped, 'reference': PoseStamped,
                  'leg_forces': JointState}


def run(stage: DemoStage) -> DemoVerdict:
    """Run the demo, write its picture, and return the verdict."""
    print(f'\nStewart platform under leg forces: simulator, pose node and controller as three '
          f'processes, physics: {PHYSICS}\n'
          f'  Forces lag by {1e3 * LAG:g} ms, which the controller knows after '
          f'{PHASE_DURATION:g} s.')
    recorder, known_ns = record(stage)
    motion = ControlledMotion.of(recorder, known_ns, TRANSIENT)
    report(motion)
    verdict = judge(motion)
    if verdict.outcome is not Outcome.NOT_SHOWN:
        stage.drawings.draw(plots.draw_control, motion, stage.folder)
    return verdict


def record(stage: DemoStage) -> tuple[DemoRecorder, int]:
    """Run both phases; return the recording, and the time (ns) at which the second began."""
    with Session(CONTROL_TOPICS, stage) as session:
        lockstep = Lockstep(session, CONTROL_RATE, ('true_pose', 'leg_forces', 'reference'))
        session.start('stewart.pose', 'stewart_pose', 'stewart_control_pose', use_sim_time=True,
                      **deep('pose'))
        session.start('stewart.controller', 'stewart_controller', 'stewart_control_controller',
                      use_sim_time=True, frequencies=[MOTION_FREQUENCY] * 6,
                      **deep('leg_forces', 'reference'))
        session.start('stewart.dynamics_simulator', 'stewart_dynamics_simulator',
                      'stewart_control_dynamics_simulator', use_sim_time=True, rate=CONTROL_RATE,
                      leg_lag=LAG, simulator=PHYSICS, **deep('true_pose'))
        lockstep.begin(CONTROL_NODES, CONTROL_PUBLISHERS)
        lockstep.run(PHASE_DURATION)
        set_lag(session)
        known_ns = lockstep.now_ns
        lockstep.run(PHASE_DURATION)
    return session.recorder, known_ns


def set_lag(session: Session) -> None:
    """Set the lag in the controller."""
    client = session.recorder.create_client(SetParameters, 'stewart_controller/set_parameters')
    session.wait_for(lambda: '' if client.service_is_ready() else f'{client.srv_name}')
    future = client.call_async(SetParameters.Request(
        parameters=[Parameter('leg_lag', value=LAG).to_parameter_msg()]))
    session.wait_for(lambda: '' if future.done() else 'the parameter leg_lag to be set')
    print('  the controller knows the lag', flush=True)


def judge(motion: ControlledMotion) -> DemoVerdict:
    """Return the verdict: errors are small once the lag is known, and much smaller than before."""
    expected = round(2.0 * PHASE_DURATION * CONTROL_RATE)
    missing = [too_few('true poses', motion.states, expected),
               too_few('commands', len(motion.command_times), expected),
               too_few('references', len(motion.times), expected)]
    if any(missing):
        return DemoVerdict.of('an incomplete motion', {}, missing)
    unknown, known = motion.largest(known=False), motion.largest(known=True)
    faults = {f'a pose was wrong by {motion.pose_error:.2g} rad or m':
              motion.pose_error > MAX_GIVEN_ERROR}
    for name, u, k, bound in zip(
            ('position, mm', 'attitude, deg'), unknown, known,
            (CONTROL_POSITION_ERROR, CONTROL_ATTITUDE_ERROR)):
        faults[f'the error of {name}, is {k:.3g}, more than {bound:g}'] = k > bound
        faults[f'the error of {name}, became smaller by {u / k:.1f}, less than {MIN_GAIN:g}'] = (
            u < MIN_GAIN * k)
    return DemoVerdict.of(
        f'{len(motion.command_times)} commands of {motion.states} states; with the lag made up '
        f'for, errors are {known[0]:.2g} mm and {known[1]:.2g} degree, '
        f'{unknown[0] / known[0]:.1f} and {unknown[1] / known[1]:.1f} times smaller',
        faults, missing)


def report(motion: ControlledMotion) -> None:
    """Print the measurements."""
    if not (motion.counts.any() and motion.known.any()):
        return
    print_table(['largest error', 'lag not known', 'made up for', 'factor', 'bound'],
                [[name, f'{u:.3g}', f'{t:.3g}', f'{u / t:.1f}', f'{bound:g}']
                 for name, u, t, bound in zip(
                     ('position, mm', 'attitude, deg'), motion.largest(known=False),
                     motion.largest(known=True),
                     (CONTROL_POSITION_ERROR, CONTROL_ATTITUDE_ERROR))])
    print(f'  poses within {motion.pose_error:.2g} rad and m')
