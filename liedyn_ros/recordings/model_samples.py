# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Recordings of the joints of a model, from whatever files they are in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.errors import DescriptionError, LimitError, ModelError, ShapeError
from liedyn_ros.common.extras import require_extra
from liedyn_ros.common.stamps import gaps_in
from liedyn_ros.model import JOINT_TYPES, Model
from liedyn_ros.recordings.samples import JointSamples
from liedyn_ros.recordings.tables import Columns, in_units, is_table, table_samples
from liedyn_ros.recordings.units import require_units

_TURN = 2.0 * math.pi
_RESTART_TOLERANCE = 0.1  # of a turn, by which an angle that starts over may miss it
_JUMP_RATIO = 8.0  # the steps beside it and the usual ones, from which a step is a jump
_NEIGHBOURS = 2  # steps on each side


def without_turns(model: Model, names: tuple[str, ...], time: Array, q: Array
                  ) -> tuple[Array, list[str]]:
    """
    Return positions (n, joints) whose angles do not start over, and remarks on those that did.

    Raises LimitError for another jump from a sample to the next, as of two runs in one recording
    or of an encoder that was reset. Positions beside a gap may be any.
    """
    q, remarks, lost = q.copy(), list[str](), gaps_in(time)
    longer = np.diff(time)  # where samples are lost, a step is longer in time as well
    longer = np.maximum(longer / np.median(longer), 1.0) if len(longer) else longer
    for k, name in enumerate(names):
        steps = np.diff(q[:, k])
        jumps = _jumps(steps / longer) & ~lost
        turns: Array = np.zeros(len(steps))
        if model.joint(name).type_name != 'prismatic':
            near = np.round(steps / _TURN)
            turns = np.where(
                jumps & (np.abs(steps - _TURN * near) < _RESTART_TOLERANCE * _TURN), near, 0.0)
        others = np.flatnonzero(jumps & (turns == 0.0))
        if len(others):
            at = int(others[0])
            raise LimitError(
                f'position of {name}: expected a motion, got a jump of {steps[at]:.4g} within '
                f'{1e3 * (time[at + 1] - time[at]):.3g} ms at {time[at]:.6g} s: two runs, or an '
                'encoder that was reset? Cut the recording there', names=(name,))
        if turns.any():
            q[1:, k] -= _TURN * np.cumsum(turns)
            remarks.append(f'position of {name}: {int(np.count_nonzero(turns))} full turns taken '
                           'back, where the angle started over')
    return q, remarks


def _jumps(steps: Array) -> NDArray[np.bool_]:
    """Return whether steps (n,) stand out of those beside them, and of the usual ones."""
    size = np.abs(steps)
    moving = size[size > 0.0]
    if len(size) <= 2 * _NEIGHBOURS or not len(moving):
        return np.zeros(len(size), dtype=bool)
    padded = np.pad(size, _NEIGHBOURS)
    beside = np.max([padded[_NEIGHBOURS + k:_NEIGHBOURS + k + len(size)]
                     for k in range(-_NEIGHBOURS, _NEIGHBOURS + 1) if k], axis=0)
    return np.asarray(size > _JUMP_RATIO * np.maximum(beside, np.quantile(moving, 0.9)))


@dataclass(frozen=True, eq=False)
class ModelSamples:
    """
    Samples of a model: time (n,) s, q (n, nq), v (n, nv) or None, tau (n, nv) or None.

    remarks say what was left out. Of a machine with closed loops joints that nobody measured are
    NaN in q and v. Their forces are zero, as they are passive.

    >>> named = JointSamples(('crank_joint',), 0, np.zeros(1), np.ones((1, 1)), None, None)
    >>> model_samples(linkage.model, named).q  # NaN: joints that nobody measured
    array([[ 1., nan, nan]])
    """

    time: Array
    q: Array
    v: Array | None
    tau: Array | None
    remarks: tuple[str, ...]


def read_samples(paths: Sequence[str | Path], names: Sequence[str], *, topic: str | None = None,
                 arrival: bool = False, columns: Columns = Columns()) -> JointSamples:
    r"""
    Return the samples of named joints in a bag, or in tables whose rows belong together.

    Args:
        paths: of one bag, or of the tables.
        names: of joints.
        topic: of a bag, by default the only one of JointState.
        arrival: whether time is that of arrival, in place of the stamps.
        columns: of tables, where they have other names or units.

    Returns:
        the samples; SI.

    Raises:
        DescriptionError: for files that cannot be read.
        NameSetError: for joints, topics and columns that are missing.
        ModuleNotFoundError: where a bag is read without rosbags and mcap.

    >>> table = folder / 'arm.csv'
    >>> _ = table.write_text('time,elbow_position\n0.0,0.1\n0.1,0.2\n')
    >>> read_samples([table], ['elbow']).position.tolist()
    [[0.1], [0.2]]
    """
    if not paths:
        raise DescriptionError('recording: expected a file or more, got none')
    if is_table(paths[0]):
        return table_samples(paths, names, columns)
    if len(paths) > 1:
        raise DescriptionError('recording: expected one bag, got '
                               f'{listed([str(each) for each in paths])}')
    require_extra('bags', 'rosbags', 'mcap')
    from liedyn_ros.recordings.bags import Bag
    from liedyn_ros.recordings.bags.joint_states import joint_samples
    return in_units(joint_samples(Bag(paths[0]), names, topic, arrival=arrival), columns)


def measured_joints(model: Model) -> tuple[str, ...]:
    """
    Return the joints that a recording needs: all, or the actuated ones of a looped machine.

    Raises ModelError for joints of several numbers, such as a free one.
    """
    numbers = {joint.name: JOINT_TYPES[joint.type_name].nq for joint in model.joint_list}
    several = [name for name, count in numbers.items() if count > 1]
    if several:
        raise ModelError(f'model: expected joints of one number, as joint states have them, got '
                         f'{listed(several)}', names=tuple(several))
    looped = bool(model.closures or model.couplings)
    return tuple(joint.name for joint in model.joint_list
                 if numbers[joint.name] and (joint.actuated or not looped))


def model_samples(model: Model, samples: JointSamples, named: bool = True) -> ModelSamples:
    """
    Return recorded samples as arrays in the order of the model.

    Angles that start over after a turn go on instead. Raises ModelError, ShapeError for joints
    that are missing, and LimitError where numbers are in degrees or millimetres, or jump; its
    message tells the options that name a unit where named, as the caller then has them.
    """
    wanted = measured_joints(model)
    missing = [name for name in wanted if name not in samples.names]
    if missing:
        raise ShapeError(f'recording: expected samples of {listed(list(wanted))}, got none of '
                         f'{listed(missing)}', names=tuple(missing))
    order = [samples.names.index(name) for name in wanted]
    at = [model.joint(name).vi for name in wanted]
    position, remarks = without_turns(model, wanted, samples.time, samples.position[:, order])
    velocity = None if samples.velocity is None else samples.velocity[:, order]
    require_units(model, wanted, samples.time, position, velocity, named)
    count = len(samples.time)

    def placed(block: Array | None, rest: float) -> Array | None:
        if block is None:
            return None
        full = np.full((count, model.nv), rest)
        full[:, at] = block
        return full

    q = placed(position, np.nan)
    if q is None:
        raise ShapeError('recording: expected positions, got none')
    effort = None if samples.effort is None else samples.effort[:, order]
    return ModelSamples(samples.time, q, placed(velocity, np.nan), placed(effort, 0.0),
                        (*samples.remarks, *remarks))
