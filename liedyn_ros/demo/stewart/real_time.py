# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How many poses a second this machine follows in real time: a fact about it, and no verdict."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from geometry_msgs.msg import PoseStamped
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.demo.recorder import deep
from liedyn_ros.demo.session import DemoStage, Session
from liedyn_ros.demo.verdict import NotShownError
from liedyn_ros.ros.messages.conversions import nanoseconds

REAL_RATE, REAL_DURATION = 1000.0, 3.0  # Hz, s
REAL_START_LIMIT = 120.0  # s; what needs longer to start follows nothing in real time
SILENCE_TIME = 1.0  # s without a message, after which nothing more is on its way
REAL_TOPICS = {'true_pose': PoseStamped, 'pose': PoseStamped}


class MeasuredPace(NamedTuple):
    """
    Pace of a recording: samples and poses that came in real time, and their latencies.

    sampled, published: numbers of samples and of poses. latencies: (n,), s, from the stamp of a
    sample to the arrival of its pose.
    """

    sampled: int
    published: int
    latencies: Array

    @classmethod
    def of(cls, truths: Sequence[Any], poses: Sequence[Any]) -> 'MeasuredPace':
        """Take the messages of a recording, each (arrival ns, message)."""
        return cls(len(truths), len(poses), 1e-9 * np.array(
            [at - nanoseconds(m.header.stamp) for at, m in poses], dtype=float))

    def __str__(self) -> str:
        """Return the fact in a sentence."""
        if not (self.sampled and self.published):
            return '  This machine followed no poses in real time.'
        share = self.published / max(self.sampled, round(REAL_RATE * REAL_DURATION))
        middle, late = 1e3 * np.percentile(self.latencies, (50, 99))
        return (f'  This machine follows {share * REAL_RATE:.0f} of {REAL_RATE:g} poses a '
                f'second; from sample to pose {middle:.2g} ms at the median, {late:.2g} ms at the '
                '99th percentile.')


def measure(stage: DemoStage) -> MeasuredPace:
    """Run the two nodes in real time, and tell what came."""
    with Session(REAL_TOPICS, stage) as session:
        recorder = session.recorder
        try:
            session.start('stewart.pose', 'stewart_pose', 'stewart_pose_in_real_time',
                          **deep('pose'))
            session.wait_until_active('stewart_pose')  # it subscribes before, and takes nothing
            session.start('stewart.simulator', 'stewart_simulator',
                          'stewart_simulator_in_real_time', rate=REAL_RATE, duration=REAL_DURATION,
                          wait_for_nodes=['stewart_pose', recorder.get_name()],
                          **deep('true_pose'))
            session.wait_for(
                lambda: '' if recorder.count('pose') else 'a pose in real time', REAL_START_LIMIT)
            seen = -1
            while seen != (seen := recorder.count('true_pose') + recorder.count('pose')):
                session.require_time()
                recorder.spin_for(SILENCE_TIME)
        except NotShownError as error:
            print(f'  {error}')
        pace = MeasuredPace.of(*(recorder.messages(topic) for topic in REAL_TOPICS))
    print(pace)
    return pace
