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
from pathlib import Path

import numpy as np

from liedyn_ros.common.checks import Array, listed
from liedyn_ros.common.errors import DescriptionError, ModelError, ShapeError
from liedyn_ros.common.extras import require_extra
from liedyn_ros.model import JOINT_TYPES, Model
from liedyn_ros.recordings.samples import JointSamples
from liedyn_ros.recordings.steps import without_turns
from liedyn_ros.recordings.tables import Columns, in_units, table_samples, TABLES
from liedyn_ros.recordings.units import require_units


@dataclass(frozen=True, eq=False)
class ModelSamples:
    """
    Samples of a model: time (n,) s, q (n, nq), v (n, nv) or None, tau (n, nv) or None.

    Of a machine with closed loops joints that nobody measured are NaN in q and v. Their forces
    are zero, as they are passive.
    """

    time: Array
    q: Array
    v: Array | None
    tau: Array | None
    remarks: tuple[str, ...]


def read_samples(paths: Sequence[str | Path], names: Sequence[str], *, topic: str | None = None,
                 arrival: bool = False, columns: Columns = Columns()) -> JointSamples:
    """
    Return the samples of named joints in a bag, or in tables whose rows belong together.

    topic and arrival as of joint_samples, columns as of table_samples; errors of both, and
    ModuleNotFoundError where a bag is read without rosbags and mcap.
    """
    if not paths:
        raise DescriptionError('recording: expected a file or more, got none')
    if Path(paths[0]).suffix in TABLES:
        return table_samples(paths, names, columns)
    if len(paths) > 1:
        raise DescriptionError('recording: expected one bag, got '
                               f'{listed([str(each) for each in paths])}')
    require_extra('bags', 'rosbags', 'mcap')
    from liedyn_ros.recordings.bags import Bag, joint_samples
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


def model_samples(model: Model, samples: JointSamples) -> ModelSamples:
    """
    Return recorded samples as arrays in the order of the model.

    Angles that start over after a turn go on instead. Raises ModelError, ShapeError for joints
    that are missing, and LimitError where numbers are in degrees or millimetres, or jump.
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
    require_units(model, wanted, samples.time, position, velocity)
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
