# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""
The file `.liedyn` of a machine with closed loops or couplings.

Its sections are those of its spanning tree (model_file.py), then the work area as it begins
(`kernels/loops.py`), and the names of closures and constraints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from liedyn_ros.common.checks import Array, require_kind
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    assemble, ConstrainedDynamics, LoopTracker)
from liedyn_ros.dynamics.constrained.configurations.closing import closing_tables
from liedyn_ros.dynamics.constrained.constraints.sparsity import padded
from liedyn_ros.dynamics.constrained.constraints.spins import idle_spins
from liedyn_ros.dynamics.constrained.constraints.tables import ConstrainedData
from liedyn_ros.dynamics.constrained.inverse_kinematics import with_targets
from liedyn_ros.dynamics.constrained.kernels.tables import REPORT_WIDTH
from liedyn_ros.dynamics.constrained.partial_derivatives.products import buffers
from liedyn_ros.dynamics.constrained.solver.inputs import hybrid_task, inverse_task
from liedyn_ros.dynamics.constrained.tracking.kernels.tracking import (
    TRACKING_REPORT_WIDTH as TRACKING_WIDTH)
from liedyn_ros.dynamics.partial_derivatives.common_frame.kernels.table import (
    COLUMN_WIDTH, LINK_WIDTH)
from liedyn_ros.dynamics.tree.data import Data
from liedyn_ros.dynamics.tree.inputs import require_order
from liedyn_ros.export.kernels.loops import ACTUATED, ANSWER, LOOPS, SPINS
from liedyn_ros.export.model_file import file_bytes, LOOPS_KIND as KIND, texts, tree_sections
from liedyn_ros.jit.simd import LANES
from liedyn_ros.model import Model

DEFAULT_ORDER = 2  # of time derivatives, by default


def loops_bytes(model: Model, *, order: int = DEFAULT_ORDER, dissipation: bool = True,
                measured: Sequence[str] | None = None, start: ArrayLike | None = None,
                reach: Mapping[str, str] | Sequence[str] = ()) -> bytes:
    """
    Return the content of a model file of a machine with closed loops, for `liedyn_loops_open`.

    The usual rank of the constraints is found by assembling the machine.

    Args:
        model: a Model.
        order: highest of time derivatives, which the size of work areas grows with.
        dissipation: whether damping and friction count.
        measured: names of joints, for `liedyn_loops_track`, as LoopTracker takes them. The file
            has no such call where none are measured, and the actuated joints do not decide the
            others.
        start: rough configuration (nq,) that selects the assembly; rad and m.
        reach: frames of InverseKinematics: then liedyn_loops_move moves the targets, the file's
            last closures, and liedyn_loops_assemble reaches them.

    Returns:
        bytes.

    Raises:
        LimitError: for an order beyond 0 to 30.
        LiedynError: for anything but a Model, and for loops that do not close.

    >>> loops_bytes(linkage.model, order=0)[:4] == model_bytes(model)[:4]
    True
    """
    require_kind('model', model, Model, 'as load_model returns')
    order = require_order(order)
    if reach:
        model = with_targets(ConstrainedDynamics(model) if model.closures or model.couplings
                             else Dynamics(model), reach)
    dynamics = ConstrainedDynamics(model, dissipation=dissipation)
    try:
        tracker = _tracker(dynamics, measured, start)
    except LiedynError:
        if measured is not None or start is not None:
            raise
        tracker = (np.zeros(0),) * 4
    work, held = _work(dynamics, order, dissipation, tracker), dynamics.model
    return file_bytes(KIND, [
        *tree_sections(held, dissipation), (work.tobytes(), len(work)),
        texts([closure.name for closure in held.closures]), texts(dynamics.constraint_names)])


def write_loops(path: str | os.PathLike[str], model: Model, *, order: int = DEFAULT_ORDER,
                dissipation: bool = True, measured: Sequence[str] | None = None,
                start: ArrayLike | None = None,
                reach: Mapping[str, str] | Sequence[str] = ()) -> None:
    """
    Write the model file of a machine with closed loops.

    Args:
        path: of the file.
        model: a Model.
        order: as for loops_bytes, as what follows.
        dissipation: whether damping and friction count.
        measured: names of joints.
        start: rough configuration (nq,); rad and m.
        reach: frames of InverseKinematics.

    Raises:
        OSError: where the file cannot be written.
        LiedynError: as loops_bytes does.

    >>> write_loops(folder / 'linkage.lied', linkage.model)
    """
    write_whole(Path(path), loops_bytes(
        model, order=order, dissipation=dissipation, measured=measured, start=start,
        reach=reach))


def _tracker(dynamics: ConstrainedDynamics, measured: Sequence[str] | None,
             start: ArrayLike | None) -> tuple[Array, ...]:
    """Return the tables of a tracker at an assembled configuration near the start."""
    tracker = LoopTracker(dynamics, measured, start=start)
    q = assemble(dynamics, start)
    tracker.update([q[dynamics.model.joint(name).qi] for name in tracker.measured])
    return tracker.tables


def _work(dynamics: ConstrainedDynamics, order: int, dissipation: bool,
          tracker: tuple[Array, ...]) -> Array:
    """Return a work area as it begins."""
    model, m, rows = dynamics.model, dynamics.m, order + 1
    closures, bodies, nv = len(model.closures), len(model.bodies), model.nv
    links = model.link_table.N + 1  # with the ground
    data = ConstrainedData(model, dissipation, typical_inertia=dynamics.data.typical_inertia)
    data.reserve(order)
    _, inverse = inverse_task(dynamics)
    return LOOPS.pack(
        sizes=[order, m, closures, bodies, dynamics.mobility.rank, 0],
        workspace=data.workspace, answer=np.zeros(ANSWER),
        hybrid=hybrid_task(np.ones(nv, dtype=np.bool_)).table, inverse=inverse.table,
        actuated=np.where(idle_spins(dynamics) & ~model.leading, SPINS, ACTUATED * model.leading),
        passive=np.zeros(nv), ones=np.ones(m), turns=np.zeros(closures),
        rest=np.zeros(nv), a=np.zeros(rows * nv), tau=np.zeros(rows * nv),
        external=np.zeros(bodies * rows * 6), multipliers=np.zeros(rows * m),
        wrenches=np.zeros(rows * closures * 6), jacobian=np.zeros(m * nv),
        report=np.zeros(REPORT_WIDTH), product=buffers(nv, m, links - 1),
        change=np.zeros(2 * nv + m), gradient=np.zeros(4 * nv), still=np.zeros(m),
        links=np.zeros((links, LINK_WIDTH)), columns=np.zeros((nv, COLUMN_WIDTH)),
        gravity=np.zeros((nv, 3)), of_tree=np.zeros((3 * nv, nv)),
        partials=np.zeros(3 * (nv + m) * nv), slopes=np.zeros(3 * m * nv),
        reactions=np.zeros(3 * m * nv), lanes=np.zeros((nv + m, LANES)),
        changes=np.zeros((1, 3 * nv + 2 * m, padded(4 * nv))),
        found=np.zeros(max(6 * nv + 3 * m, 4 * nv + 4 * m) * nv),
        sample=np.zeros(TRACKING_WIDTH), lower=model.limits.lower, upper=model.limits.upper,
        closing=closing_tables(dynamics, np.ones(nv, dtype=np.bool_)),
        data=Data(dynamics.tree.constants).table,
        **dict(zip(('tracker', 'good', 'near', 'trial'), tracker)))
