# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Messages that a view has heard, as plain numbers, and the page that shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.dynamics import FloatingBase
from liedyn_ros.model import Joint, JOINT_TYPES, Model
from liedyn_ros.model.followers import Followers
from liedyn_ros.stewart import BranchSource, StewartGeometry

Machine = Model | StewartGeometry


@dataclass(frozen=True)
class Description:
    """The text or file of a URDF, and the folder that its relative paths begin from, if any."""

    source: str | Path
    folder: Path | None = None


@dataclass(frozen=True)
class SolvedPose:
    """
    How the newest pose was solved.

    lengths (n,) in the geometry's order, m or rad. residual m; age s; time_to_singularity s, 0
    where it is not known. branch_source: what the branch rests on.
    """

    lengths: Array
    smallest_singular_value: float
    residual: float
    iterations: int
    age: float
    time_to_singularity: float
    branch_source: BranchSource = BranchSource.UNSURE


@dataclass(frozen=True)
class ViewInput:
    """
    The newest of each topic; None or empty where nothing has come.

    Poses (4, 4), m, are those of the platform, or of the floating base of a tree. covariance
    (3, 3) is that of the position, m^2, in fixed axes. positions and efforts are by joint,
    rotor_speeds by rotor, rad/s. warnings are sentences about the last seconds; fault is why
    there is no pose. quiet has, by topic, for how long nothing came on those that had messages, s.
    """

    pose: Array | None = None
    reference: Array | None = None
    true_pose: Array | None = None
    covariance: Array | None = None
    solved: SolvedPose | None = None
    positions: Mapping[str, float] = field(default_factory=dict)
    efforts: Mapping[str, float] = field(default_factory=dict)
    rotor_speeds: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    fault: str = ''
    quiet: Mapping[str, float] = field(default_factory=dict)

    @property
    def tracks(self) -> bool:
        """Return whether the newest pose is of now."""
        return self.solved is not None and 'status' not in self.quiet


def seen_of(model: Model, q: Array) -> ViewInput:
    """Return a configuration (nq,) as a view sees it: the pose of the base, joints by name."""
    pose = None
    if model.joint_list and model.joint_list[0].type_name == 'free':
        pose = FloatingBase(model).pose(q)
    return ViewInput(pose=pose, positions={
        joint.name: float(q[joint.qi]) for joint in model.joint_list
        if JOINT_TYPES[joint.type_name].nv == 1})


class Doubts:
    """Doubts of joint states: names that a model does not have, positions far beyond limits."""

    def __init__(self, model: Model) -> None:
        """Take a model."""
        self._joints = {joint.name: joint for joint in model.joint_list
                        if JOINT_TYPES[joint.type_name].nv == 1}
        followers = Followers(model).names
        self._missing = [name for name, joint in self._joints.items()
                         if joint.actuated and name not in followers]

    def of(self, seen: ViewInput) -> dict[str, str]:
        """Return a sentence for each kind of doubt about what was heard."""
        found, named = dict[str, str](), {**seen.efforts, **seen.positions}
        self._missing = [name for name in self._missing if name not in named]
        unknown = [name for name in named if name not in self._joints]
        if unknown and self._missing:
            found['names'] = (f'joint_states: expected joints such as {listed(self._missing)}, '
                              f'got {listed(unknown)}: unnamed joints are not moved')
        far = [name for name in seen.positions
               if name in self._joints and _is_far(self._joints[name], seen.positions[name])]
        if far:
            limits = self._joints[far[0]].limits
            found['positions'] = (
                f'joint_states: expected {far[0]} within {limits.lower[0]:.4g} to '
                f'{limits.upper[0]:.4g} rad or m, got {seen.positions[far[0]]:.4g}' + (
                    f', and {len(far) - 1} others as far' if far[1:] else '')
                + ': degrees or mm?')
        return found


def _is_far(joint: Joint, position: float) -> bool:
    """Return whether a position is beyond the limits of a joint by more than half their range."""
    lower, upper = float(joint.limits.lower[0]), float(joint.limits.upper[0])
    # Never without limits, or with empty ones
    return 0.0 < upper - lower < abs(position - 0.5 * (lower + upper))


class Page(Protocol):
    """Page that shows a machine, and the messages on it."""

    @property
    def address(self) -> str:
        """Return where a browser finds it."""

    @property
    def viewers(self) -> int:
        """Return how many browsers look."""

    def adopt(self, machine: Machine, home: Array, description: Description | None = None) -> None:
        """Show another machine; home (4, 4), m, of a platform, description of a robot."""

    def show(self, seen: ViewInput) -> None:
        """Show the machine as messages describe it."""

    def record_to(self, path: Path) -> None:
        """Record the pictures from now on, and write them as HTML to a file at the end."""

    def close(self) -> None:
        """End."""
