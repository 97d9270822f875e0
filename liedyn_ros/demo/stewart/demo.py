# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Track a simulated Stewart platform: two node processes, a recorder, a report."""

from pathlib import Path

from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped
from liedyn_interfaces.msg import StewartStatus
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.resources import config_file
from liedyn_ros.common.tables import print_table
from liedyn_ros.demo.drawing import Drawings
from liedyn_ros.demo.recorder import deep, Recorder
from liedyn_ros.demo.session import Session
from liedyn_ros.demo.stewart import plots
from liedyn_ros.demo.stewart.tracking import Tracking
from liedyn_ros.lie import SE3, SO3
from liedyn_ros.ros.streams.diagnostics import MAX_MISSED
from liedyn_ros.stewart import leg_lengths, load_geometry, PoseSolver, StewartGeometry

RATE, DURATION = 1000.0, 6.0  # Hz, s
NOISE = 20e-6  # m, of the encoders; the pose node does not know it, and estimates it
TOPICS = {'true_pose': PoseStamped, 'pose': PoseStamped, 'status': StewartStatus,
          'pose_with_covariance': PoseWithCovarianceStamped}
MAX_ERROR = 8e-4  # rad and m; six standard deviations or so
LEAST_WITHIN = 0.99  # of the errors within the predicted three sigma, which hold 99.7 % of them
MAX_ITERATIONS = 3  # from which on the demo remarks on it
STALE = 0.1  # s, an age of published poses that no robot should be given
MAX_GAP = 1.0  # s without a pose; a busy machine publishes fewer of them, but goes on

ROUNDED_LENGTHS = 0.01 * np.array([55.8558, 62.5313, 52.7436, 55.1457, 44.7972, 51.9910])
Q_C = ((0.0, 0.0, 0.5), (20.0, 0.0, -30.0))  # m; roll, pitch, yaw in degrees


def run(folder: Path, drawings: Drawings) -> bool:
    """Run the demo, write its pictures into a folder, and return whether the pose was tracked."""
    folder.mkdir(parents=True, exist_ok=True)
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    paper_case(geometry)
    print(f'\nStewart platform: simulator and pose node as two processes, {RATE:g} Hz, '
          f'{DURATION:g} s, encoder noise of {1e6 * NOISE:g} um')
    tracking = record(folder)
    report(tracking)
    if tracking.solved:
        drawings.draw(plots.draw, tracking, geometry, folder)
    good = judge(tracking)
    print(f'  {"tracked" if good else "NOT TRACKED"}; pictures in {folder}/')
    return good


def judge(tracking: Tracking) -> bool:
    """Print the faults; return False where a pose was wrong, stale or missing."""
    if not tracking.solved:
        print('  No pose came; the logs of the nodes tell why.')
        return False
    rotation, position = tracking.errors
    stale, error = np.percentile(tracking.ages, 99), max(rotation.max(), position.max())
    faults = [text for wrong, text in (
        (tracking.within < LEAST_WITHIN,
         f'{100.0 * tracking.within:.1f} % of the errors lie within the predicted three sigma'),
        (error > MAX_ERROR, f'a pose was wrong by {error:.3g} rad or m'),
        (tracking.failed > 0, f'{tracking.failed} solves failed'),
        (stale > STALE, f'poses were stale: {1e3 * stale:.0f} ms old at the 99th percentile'),
        (tracking.longest_gap > MAX_GAP, f'no pose came for {tracking.longest_gap:.2f} s'),
    ) if wrong]
    remark(tracking)
    for fault in faults:
        print(f'  {fault}')
    return not faults


def remark(tracking: Tracking) -> None:
    """Print the remarks on a recording that make no pose wrong or stale."""
    late = tracking.passed_over + tracking.lost + tracking.refused
    if late > MAX_MISSED * tracking.sampled or tracking.connecting > RATE:
        print(f'  This machine was too busy for {RATE:g} Hz: {tracking.passed_over} samples were '
              f'passed over for newer ones, {tracking.lost} lost on the way. What was published '
              f'was {1e3 * np.median(tracking.ages):.2g} ms old at the median.')
    if tracking.refused:
        print(f'  Samples refused, as stale or out of order: {tracking.refused}.')
    if tracking.lost == 0 and tracking.iterations.max() > MAX_ITERATIONS:
        print(f'  A solve took {tracking.iterations.max():.0f} iterations; {MAX_ITERATIONS} are '
              'usual.')


def paper_case(geometry: StewartGeometry) -> None:
    """Solve the paper's example from home and print it beside the true pose."""
    truth = SE3.from_rotation_translation(SO3.from_rpy(*np.radians(Q_C[1])), Q_C[0])
    home = SE3.from_rotation_translation(SO3.identity(), Q_C[0]).matrix
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
    value = SE3.from_matrix(pose)
    return np.concatenate((100.0 * value.translation, np.degrees(value.rotation.rpy)))


def record(folder: Path) -> Tracking:
    """Run the two nodes for the demo's time and return the recording."""
    with Session(TOPICS, folder) as session:
        recorder = session.recorder
        session.start('stewart.pose', **deep('pose', 'status'))
        session.wait_for('the pose node', lambda: recorder.count_publishers('pose') > 0)
        session.start('stewart.simulator', rate=RATE, duration=DURATION,
                      length_noise=NOISE, wait_for_subscribers=True, **deep('true_pose'))
        session.wait_for('a pose', lambda: recorder.count('true_pose') > 0)
        watch(recorder)
    return Tracking.of(*(recorder.messages(topic) for topic in TOPICS))


def watch(recorder: Recorder) -> None:
    """Record the motion, and for as long as messages still come, with progress."""
    seconds, seen = 0, -1
    while seconds < DURATION or recorder.count('pose') != seen:
        seen = recorder.count('pose')
        recorder.spin_for(1.0)
        seconds += 1
        if seconds <= DURATION:
            print(f'  {seconds:2d} s of {DURATION:g}: {recorder.count("true_pose"):6d} samples, '
                  f'{recorder.count("pose"):6d} poses', flush=True)


def report(tracking: Tracking) -> None:
    """Print the measurements."""
    rotation, position = tracking.errors
    rows = [['samples while connecting', tracking.connecting, ''],
            ['samples in', tracking.sampled, ''], ['poses out', tracking.solved, ''],
            ['passed over for a newer one', tracking.passed_over, ''],
            ['lost', tracking.lost, ''], ['refused', tracking.refused, ''],
            ['failed solves', tracking.failed, '']]
    rows += [[name, *(f'{np.percentile(values, q):.3g}' for q in (50, 99))]
             for name, values in (
                 ('position error, m', position), ('rotation error, rad', rotation),
                 ('iterations', tracking.iterations),
                 ('solve time, us', 1e6 * tracking.solve_times),
                 ('age when published, ms', 1e3 * tracking.ages),
                 ('end-to-end latency, ms', 1e3 * tracking.latencies)) if len(values)]
    if len(tracking.deviations):
        rows.append(['errors within the predicted three sigma',
                     f'{100.0 * tracking.within:.2f} %', ''])
    print_table(['', 'median or count', '99th percentile'], rows)
