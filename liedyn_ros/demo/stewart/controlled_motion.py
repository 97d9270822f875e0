# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Evaluation of a recording of a platform under leg forces: motion, errors and commands."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.demo.recorder import DemoRecorder
from liedyn_ros.demo.verdict import NotShownError
from liedyn_ros.lie import se3
from liedyn_ros.ros.messages.conversions import from_pose, nanoseconds


@dataclass(frozen=True)
class ControlledMotion:
    """
    A recorded motion, row by row in time, s from its beginning.

    At times (n,): errors (n, 6), the displacement from the reference, rad and m. known: (n,),
    whether the controller knew the lag then; counts: (n,), whether the errors count, some time
    after the start and after it was known. At command_times (m,): forces (m, 6), N. pose_error:
    the largest of the poses that the controller was given, rad or m. states: number of true poses,
    those at rest before the first command too.
    """

    times: Array
    errors: Array
    known: NDArray[np.bool_]
    counts: NDArray[np.bool_]
    command_times: Array
    forces: Array
    pose_error: float
    states: int

    @classmethod
    def of(cls, recorder: DemoRecorder, known_ns: int, settled: float) -> 'ControlledMotion':
        """
        Compare true poses, poses and references of equal stamps; settled is in s.

        Raises NotShownError where one of them, a command or a motion is missing.
        """
        truths, poses, references = (
            {nanoseconds(message.header.stamp): message.pose
             for _, message in recorder.messages(topic)}
            for topic in ('true_pose', 'pose', 'reference'))
        commands = {nanoseconds(message.header.stamp): message.effort
                    for _, message in recorder.messages('leg_forces')}
        begin = min((stamp for stamp, pose in truths.items() if pose != truths[min(truths)]),
                    default=0)
        commanded = sorted(stamp for stamp in commands if stamp >= begin)
        stamps = sorted(stamp for stamp in references if stamp in truths and stamp >= begin)
        seen = [stamp for stamp in poses if stamp in truths]
        if not (begin and commanded and stamps and seen):
            raise NotShownError(f'expected a motion with poses, references and commands, got '
                                f'{len(truths)} true poses, {len(poses)} poses, {len(references)} '
                                f'references and {len(commands)} commands')
        true = np.array([from_pose(truths[stamp]) for stamp in stamps])
        wanted = np.array([from_pose(references[stamp]) for stamp in stamps])
        given = _errors(np.array([from_pose(truths[stamp]) for stamp in seen]),
                        np.array([from_pose(poses[stamp]) for stamp in seen]))
        times = 1e-9 * (np.array(stamps) - begin)
        known_at = 1e-9 * (known_ns - begin)
        known = times >= known_at
        return cls(
            times, _errors(wanted, true), known,
            counts=(times >= settled) & ~(known & (times < known_at + settled)),
            command_times=1e-9 * (np.array(commanded) - begin),
            forces=np.array([commands[stamp] for stamp in commanded]),
            pose_error=float(np.abs(given).max()), states=len(truths))

    @property
    def position_errors(self) -> Array:
        """Return the distances (n,) from the reference, mm."""
        return 1e3 * np.linalg.norm(self.errors[:, 3:], axis=1)

    @property
    def attitude_errors(self) -> Array:
        """Return the angles (n,) to the reference, degree."""
        return np.degrees(np.linalg.norm(self.errors[:, :3], axis=1))

    def largest(self, known: bool) -> tuple[float, float]:
        """Return the largest errors that count, position and attitude, the lag known or not."""
        rows = self.counts & (self.known == known)
        return (float(self.position_errors[rows].max()), float(self.attitude_errors[rows].max()))


def _errors(wanted: Array, true: Array) -> Array:
    return se3.log(se3.compose(se3.inverse(wanted), true))
