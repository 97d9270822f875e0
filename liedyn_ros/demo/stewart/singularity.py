# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Lead a platform through a singularity: where a plain solver goes wrong, and what ours says."""

from pathlib import Path

from geometry_msgs.msg import PoseStamped
from liedyn_interfaces.msg import StewartStatus
import numpy as np
from sensor_msgs.msg import JointState

from liedyn_ros.common.resources import config_file
from liedyn_ros.common.tables import print_table
from liedyn_ros.demo.drawing import Drawings
from liedyn_ros.demo.recorder import deep
from liedyn_ros.demo.session import Session
from liedyn_ros.demo.stewart import crossing_plots
from liedyn_ros.demo.stewart.crossing import Crossing, WRONG
from liedyn_ros.lie import so3
from liedyn_ros.stewart import load_geometry

RATE, DURATION = 200.0, 5.0  # Hz, which a busy machine bears too; s
NOISE = 20e-6  # m, of the encoders
# A turn about the platform's own axis, which is singular at a right angle; a little askew.
HOME_TURN, HOME_POSITION = (0.05, 0.03, 0.0), (0.02, 0.01, 0.5)  # rotation vector, rad; m
TURN, FREQUENCY = 2.27, 0.05  # rad, Hz: a quarter of a period in the duration
SEED = 6  # of the noise
RELIABLE = 'qos_overrides./leg_states.publisher.reliability'  # so that the recorder hears
TOPICS = {'true_pose': PoseStamped, 'leg_states': JointState, 'pose': PoseStamped,
          'status': StewartStatus}


def run(folder: Path, drawings: Drawings) -> bool:
    """Run the demo, write its picture into a folder, and return whether the node was right."""
    folder.mkdir(parents=True, exist_ok=True)
    print(f'\nStewart platform through a singularity: a turn by {np.degrees(TURN):.0f} degrees, '
          f'encoder noise of {1e6 * NOISE:g} um')
    crossing = record(folder)
    good = report(crossing)
    drawings.draw(crossing_plots.draw, crossing, folder)
    print(f'  {"held" if good else "NOT HELD"}; pictures {folder}/stewart_singularity.*')
    return good


def record(folder: Path) -> Crossing:
    """Run the two nodes through the singularity and return the recording."""
    home = {'home_position': list(HOME_POSITION),
            'home_orientation': so3.to_quaternion(so3.exp(HOME_TURN)).tolist()}
    with Session(TOPICS, folder) as session:
        recorder = session.recorder
        session.start('stewart.pose', 'stewart_singularity_pose', leg_noise=NOISE,
                      hold_hypotheses=True, **home, **deep('pose', 'status'))
        session.wait_for('the pose node', lambda: recorder.count_publishers('pose') > 0)
        session.start('stewart.simulator', 'stewart_singularity_simulator', rate=RATE,
                      duration=DURATION, length_noise=NOISE, seed=SEED, publish_leg_rates=False,
                      amplitudes=[0.0, 0.0, TURN, 0.0, 0.0, 0.0], frequencies=[FREQUENCY] * 6,
                      phases=[0.0] * 6, wait_for_subscribers=True, **home,
                      **{RELIABLE: 'reliable'}, **deep('true_pose', 'leg_states'))
        session.wait_for('a pose', lambda: recorder.count('pose') > 0)
        seen = -1
        while recorder.count('pose') != seen:
            seen = recorder.count('pose')
            recorder.spin_for(1.0)
    return Crossing.of(load_geometry(config_file('stewart_geometry.yaml')),
                       *(recorder.messages(topic) for topic in TOPICS))


def report(crossing: Crossing) -> bool:
    """Print who was where, and return whether the node was right, and never wrong in silence."""
    plain, ours = crossing.plain_errors, crossing.our_errors
    unsaid = crossing.unsaid()
    print_table(['', 'plain solver', 'pose node'], [
        ['poses', len(plain), len(ours)],
        ['error at the end, mrad or mm', f'{1e3 * plain[-1]:.3g}', f'{1e3 * ours[-1]:.3g}'],
        ['poses wrong by more than 50 mrad or mm', int((plain > WRONG).sum()),
         int((ours > WRONG).sum())],
        ['of these without a warning', int((plain > WRONG).sum()), unsaid]])
    print(f'  the truth passes the singularity at {crossing.crossed_at:.2f} s')
    for sentence, first, last in crossing.warnings():
        print(f'  {first:5.2f} to {last:5.2f} s: {sentence}')
    return bool(ours[-1] < WRONG and unsaid == 0)
