# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Track a simulated Stewart platform in lockstep."""

from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped
from liedyn_interfaces.msg import StewartStatus
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.demo.lockstep import Lockstep
from liedyn_ros.demo.recorder import deep
from liedyn_ros.demo.session import DemoStage, Session
from liedyn_ros.demo.stewart import plots
from liedyn_ros.demo.stewart.tracking import Tracking
from liedyn_ros.demo.verdict import DemoVerdict, Outcome, too_few
from liedyn_ros.lie import SE3, SO3
from liedyn_ros.stewart import leg_lengths, load_geometry, PoseSolver, StewartGeometry

LEG_RATE, TRACKED_TIME = 500.0, 6.0  # Hz, s of simulated time
ENCODER_NOISE = 20e-6  # m, of the encoders; the pose node does not know it, and estimates it
TRACKED_TOPICS = {'true_pose': PoseStamped, 'pose': PoseStamped, 'status': StewartStatus,
                  'pose_with_covariance': PoseWithCovarianceStamped}
MAX_TRACKED_ERROR = 8e-4  # rad and m; six standard deviations or so
# Of the errors within the predicted three sigma, which hold 99.7 % of them
MIN_WITHIN_BOUNDS = 0.99

ROUNDED_LENGTHS = 0.01 * np.array([55.8558, 62.5313, 52.7436, 55.1457, 44.7972, 51.9910])
CENTRE_POSE = ((0.0, 0.0, 0.5), (20.0, 0.0, -30.0))  # m; roll, pitch, yaw in degrees


def run(stage: DemoStage) -> DemoVerdict:
    """Run the demo, write its pictures, and return the verdict."""
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    paper_case(geometry)
    print(f'\nStewart platform: simulator and pose node as two processes, {TRACKED_TIME:g} s of '
          f'simulated time at {LEG_RATE:g} Hz, encoder noise of {1e6 * ENCODER_NOISE:g} um')
    tracking = record(stage)
    report(tracking)
    verdict = judge(tracking)
    if verdict.outcome is not Outcome.NOT_SHOWN:
        stage.drawings.draw(plots.draw_tracking, tracking, geometry, stage.folder)
    return verdict


def judge(tracking: Tracking) -> DemoVerdict:
    """Return the verdict: no pose was wrong, and errors are as large as predicted."""
    expected = round(LEG_RATE * TRACKED_TIME)
    missing = [too_few('true poses', tracking.sampled, expected),
               too_few('their poses', tracking.solved, expected)]
    if not tracking.solved:
        return DemoVerdict.of('no pose came', {}, missing)
    rotation, position = tracking.errors
    error, within = max(rotation.max(), position.max()), 100.0 * tracking.within
    judged, moved = len(tracking.deviations), max(map(max, tracking.displacements))
    return DemoVerdict.of(
        f'{tracking.solved} poses of {tracking.sampled}, along a motion of {moved:.2g} rad or m, '
        f'were within {error:.2g} rad and m'
        + (f', and {within:.1f} % of the errors of {judged} within the predicted three sigma'
           if judged else ''), {
            f'a pose was wrong by {error:.3g} rad or m, more than {MAX_TRACKED_ERROR:g}':
                bool(error > MAX_TRACKED_ERROR),
            f'{within:.1f} % of the errors lie within the predicted three sigma, fewer than '
            f'{100.0 * MIN_WITHIN_BOUNDS:g} %': bool(tracking.within < MIN_WITHIN_BOUNDS),
            f'{tracking.failed} solves failed': tracking.failed > 0,
        }, [*missing, '' if moved > MAX_TRACKED_ERROR else 'a motion of the platform',
            '' if judged else 'poses with a covariance'])


def paper_case(geometry: StewartGeometry) -> None:
    """Solve the paper's example from home and print it beside the true pose."""
    truth = SE3.from_rotation_translation(SO3.from_rpy(*np.radians(CENTRE_POSE[1])),
                                          CENTRE_POSE[0])
    home = SE3.from_rotation_translation(SO3.identity(), CENTRE_POSE[0]).matrix
    solver = PoseSolver(geometry)
    exact = solver.solve(leg_lengths(geometry, truth.matrix), home)
    rounded = solver.solve(ROUNDED_LENGTHS, home)
    print('The case of Xie et al. 2021 (Stewart 29, its last length 51.9910 cm), from home')
    rows = [[name, *(f'{value:.7f}' for value in coordinates(pose)), iterations]
            for name, pose, iterations in (
                ('q_C', truth.matrix, ''), ('from exact lengths', exact.pose, exact.iterations),
                ('from printed lengths', rounded.pose, rounded.iterations))]
    print_table(['', 'x cm', 'y cm', 'z cm', 'roll deg', 'pitch deg', 'yaw deg', 'iterations'],
                rows)


def coordinates(pose: Array) -> Array:
    """Return x, y, z in cm and roll, pitch, yaw in degrees, as the paper prints a pose."""
    value = SE3(pose)
    return np.concatenate((100.0 * value.translation, np.degrees(value.rotation.rpy)))


def record(stage: DemoStage) -> Tracking:
    """Run the two nodes in lockstep and return the recording."""
    with Session(TRACKED_TOPICS, stage) as session:
        lockstep = Lockstep(session, LEG_RATE, ('true_pose', 'status'))
        session.start('stewart.pose', 'stewart_pose', use_sim_time=True, **deep('pose', 'status'))
        session.start('stewart.simulator', 'stewart_simulator', use_sim_time=True,
                      rate=LEG_RATE, length_noise=ENCODER_NOISE, **deep('true_pose'))
        lockstep.begin(('stewart_pose', 'stewart_simulator'), {'leg_states': ['stewart_pose']})
        lockstep.run(TRACKED_TIME)
    return Tracking.of(*(session.recorder.messages(topic) for topic in TRACKED_TOPICS))


def report(tracking: Tracking) -> None:
    """Print the measurements."""
    rotation, position = tracking.errors
    rows = [['samples in', tracking.sampled, ''], ['poses out', tracking.solved, ''],
            ['failed solves', tracking.failed, '']]
    rows += [[name, *(f'{np.percentile(values, q):.3g}' for q in (50, 99))]
             for name, values in (
                 ('position error, m', position), ('rotation error, rad', rotation),
                 ('iterations', tracking.iterations),
                 ('solve time, us', 1e6 * tracking.solve_times)) if len(values)]
    print_table(['', 'median or count', '99th percentile'], rows)
