# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Lead a platform through a singularity: where a plain solver goes wrong, and what ours says."""

from geometry_msgs.msg import PoseStamped
from liedyn_interfaces.msg import StewartStatus
import numpy as np
from sensor_msgs.msg import JointState

from liedyn_ros.common.markup import print_table
from liedyn_ros.common.resources import config_file
from liedyn_ros.demo.lockstep import Lockstep
from liedyn_ros.demo.recorder import deep
from liedyn_ros.demo.session import DemoStage, Session
from liedyn_ros.demo.stewart import plots
from liedyn_ros.demo.stewart.crossing import Crossing, WRONG_DISTANCE
from liedyn_ros.demo.verdict import DemoVerdict, Outcome, too_few
from liedyn_ros.lie import so3
from liedyn_ros.stewart import load_geometry

CROSSING_RATE, CROSSING_TIME = 200.0, 5.0  # Hz, s of simulated time
CROSSING_NOISE = 20e-6  # m, of the encoders
# A turn about the platform's own axis, which is singular at a right angle; a little askew.
HOME_TURN, HOME_POSITION = (0.05, 0.03, 0.0), (0.02, 0.01, 0.5)  # rotation vector, rad; m
CROSSING_TURN, CROSSING_FREQUENCY = 2.27, 0.05  # rad, Hz: a quarter of a period in the duration
NOISE_SEED = 6  # of the noise
RELIABLE = 'qos_overrides./leg_states.publisher.reliability'  # so that the recorder hears
CROSSING_TOPICS = {'true_pose': PoseStamped, 'leg_states': JointState, 'pose': PoseStamped,
                   'status': StewartStatus}


def run(stage: DemoStage) -> DemoVerdict:
    """Run the demo, write its picture, and return the verdict."""
    print(f'\nStewart platform through a singularity: a turn by {np.degrees(CROSSING_TURN):.0f} '
          f'degrees, '
          f'encoder noise of {1e6 * CROSSING_NOISE:g} um')
    crossing = record(stage)
    report(crossing)
    verdict = judge(crossing)
    if verdict.outcome is not Outcome.NOT_SHOWN:
        stage.drawings.draw(plots.draw_crossing, crossing, stage.folder)
    return verdict


def record(stage: DemoStage) -> Crossing:
    """Run the two nodes through the singularity, in lockstep, and return the recording."""
    home = {'home_position': list(HOME_POSITION),
            'home_orientation': so3.to_quaternion(so3.exp(HOME_TURN)).tolist()}
    with Session(CROSSING_TOPICS, stage) as session:
        lockstep = Lockstep(session, CROSSING_RATE, ('true_pose', 'leg_states', 'status'))
        session.start('stewart.pose', 'stewart_pose', 'stewart_singularity_pose',
                      use_sim_time=True, leg_noise=CROSSING_NOISE, hold_hypotheses=True, **home,
                      **deep('pose', 'status'))
        session.start('stewart.simulator', 'stewart_simulator', 'stewart_singularity_simulator',
                      use_sim_time=True, rate=CROSSING_RATE, length_noise=CROSSING_NOISE,
                      seed=NOISE_SEED,
                      publish_leg_rates=False, amplitudes=[0.0, 0.0, CROSSING_TURN, 0.0, 0.0, 0.0],
                      frequencies=[CROSSING_FREQUENCY] * 6, phases=[0.0] * 6, **home,
                      **{RELIABLE: 'reliable'}, **deep('true_pose', 'leg_states'))
        lockstep.begin(('stewart_pose', 'stewart_simulator'), {'leg_states': ['stewart_pose']})
        lockstep.run(CROSSING_TIME)
    return Crossing.of(load_geometry(config_file('stewart_geometry.yaml')),
                       *(session.recorder.messages(topic) for topic in CROSSING_TOPICS))


def judge(crossing: Crossing) -> DemoVerdict:
    """Return the verdict: the node was right behind the singularity, and never silently wrong."""
    plain, ours, unsaid = crossing.plain_errors, crossing.our_errors, crossing.unsaid()
    expected, crossed = round(CROSSING_RATE *
                              CROSSING_TIME), bool(np.isfinite(crossing.crossed_at))
    behind = np.flatnonzero(crossing.ours_times > crossing.crossed_at)
    to_the_end = crossing.ours_times[-1] > CROSSING_TIME - 2.0 / CROSSING_RATE
    return DemoVerdict.of(
        f'{len(ours)} poses of {len(plain)}, {len(behind)} of them behind the singularity; at the '
        f'end the pose node is off by {1e3 * ours[-1]:.3g} mrad or mm, the plain solver by '
        f'{1e3 * plain[-1]:.3g}', {
            f'{unsaid} poses were wrong without a warning': unsaid > 0,
            f'the last pose was wrong by {1e3 * ours[-1]:.3g} mrad or mm':
                bool(to_the_end and ours[-1] > WRONG_DISTANCE),
        }, [too_few('true poses', len(plain), expected),
            too_few('their statuses', crossing.answered, expected),
            '' if len(behind) else 'poses behind the singularity',
            '' if crossed else 'the passage through the singularity',
            '' if to_the_end else f'poses after {crossing.ours_times[-1]:.2f} s',
            '' if plain[-1] > WRONG_DISTANCE else 'a plain solver that is lost'])


def report(crossing: Crossing) -> None:
    """Print the errors of both, and the warnings of the node."""
    plain, ours = crossing.plain_errors, crossing.our_errors
    print_table(['', 'plain solver', 'pose node'], [
        ['poses', len(plain), len(ours)],
        ['error at the end, mrad or mm', f'{1e3 * plain[-1]:.3g}', f'{1e3 * ours[-1]:.3g}'],
        ['poses wrong by more than 50 mrad or mm', int((plain > WRONG_DISTANCE).sum()),
         int((ours > WRONG_DISTANCE).sum())],
        ['of these without a warning', int((plain > WRONG_DISTANCE).sum()), crossing.unsaid()]])
    for sentence, first, last in crossing.warnings():
        print(f'  {first:5.2f} to {last:5.2f} s: {sentence}')
