# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Assembly of a machine's loops at each measured pose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import ConvergenceError, LimitError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemblies
from liedyn_ros.dynamics.constrained.configurations.misfit import relaxed
from liedyn_ros.dynamics.constrained.constraints.constraints import Constraints
from liedyn_ros.dynamics.constrained.constraints.size import machine_size
from liedyn_ros.identification.calibration.frames import frames_of
from liedyn_ros.identification.calibration.loops import is_looped
from liedyn_ros.identification.calibration.problem import ArmSamples
from liedyn_ros.model import Model

SEARCH_STARTS = 12  # of the search for other assemblies of a pose
MAX_ASSEMBLY_ROUNDS = 10
ASSEMBLY_GAIN = 0.5  # of the error of an assembly, below which another is taken
TRUSTED_ERRORS = 3.0  # middle errors: poses within them tell the unknown frames
MAX_MEDIAN_ERROR = 0.1  # of a machine's size: errors in the middle that no calibration mends


def nearest_assemblies(model: Model, body: str, samples: ArmSamples, q: Array,
                       closed: NDArray[np.bool_], known: tuple[Array | None, Array | None]
                       ) -> tuple[Array, NDArray[np.bool_], dict[str, Array]]:
    """
    Return q (n, nq), each pose in that assembly whose target is nearest to what was measured.

    q are assemblies to begin with, and stay where no other one is clearly nearer; closed (n,)
    tells which have one. known are the frames (4, 4) of instrument and target, or None. Also
    return which poses (n,) are near their measurements, and both frames by these. Raises
    LimitError where most are far off.
    """
    rows = np.flatnonzero(closed)
    loops = Constraints(relaxed(model, ())) if is_looped(model) else None
    choices = [_choices(loops, samples, each, q[each]) for each in rows.tolist()]
    kinematics, at = Dynamics(model).kinematics, model.body_index(body)
    poses = [np.array([kinematics(each).poses[at] for each in some]) for some in choices]
    some = samples.rows(rows)
    chosen, trusted = np.zeros(len(rows), dtype=int), np.ones(len(rows), dtype=bool)
    for _ in range(MAX_ASSEMBLY_ROUNDS):
        now = np.array([each[k] for each, k in zip(poses, chosen)])
        usable = some.rows(trusted)
        frames = frames_of(now[trusted], usable.positions, usable.rotations, *known)
        errors = [_errors(each, some, k, frames) for k, each in enumerate(poses)]
        last = chosen.copy(), trusted
        chosen[:] = [int(np.argmin(each)) if each.min() < ASSEMBLY_GAIN * each[k] else k
                     for each, k in zip(errors, chosen)]
        left = np.array([each[k] for each, k in zip(errors, chosen)])
        trusted = left <= TRUSTED_ERRORS * np.median(left)
        if np.array_equal(last, (chosen, trusted)):
            break
    off, size = np.median(left) * samples.deviations[0], machine_size(model)
    if samples.rotations is None and off > MAX_MEDIAN_ERROR * size:
        raise LimitError(f'positions: expected them within {MAX_MEDIAN_ERROR * size:.3g} m of the '
                         f'model, got a median of {off:.3g} m. Check units, the order of the '
                         'joints, instrument, target and start')
    result, sound = q.copy(), closed.copy()
    result[rows] = [each[k] for each, k in zip(choices, chosen)]
    sound[rows] = trusted
    return result, sound, frames


def _choices(loops: Constraints | None, samples: ArmSamples, k: int, q: Array) -> list[Array]:
    """Return configurations (nq,) with the readings of a pose, q first."""
    if loops is None:
        return [q]
    held = dict(zip(samples.names, samples.readings[k].tolist()))
    try:
        return [q, *assemblies(loops, q, held=held, attempts=SEARCH_STARTS)]
    except ConvergenceError:
        return [q]


def _errors(poses: Array, samples: ArmSamples, k: int, frames: dict[str, Array]) -> Array:
    """Return how far the target is from a measured pose, for poses (c, 4, 4), in deviations."""
    seen = frames['instrument'] @ poses @ frames['target']
    off = samples.rows(np.full(len(poses), k)).errors(seen, frames['further'])
    return np.asarray(np.linalg.norm(off, axis=1))
