# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Plots of a motion that is to be recorded."""

from __future__ import annotations

import numpy as np

from liedyn_ros.commands.reports import Line, plot
from liedyn_ros.identification import Excitation
from liedyn_ros.model import Model

JOINTS_OF_PLOT = 4  # joints of a plot


def motion_plots(model: Model, found: Excitation) -> list[str]:
    """Return plots of the moved joints: positions, velocities and forces over time."""
    joints = [model.joint(name) for name in found.joints]
    slides = {joint.name: joint.type_name == 'prismatic' for joint in joints}
    units = [unit for unit, some in (('rad', not all(slides.values())),
                                     ('m', any(slides.values()))) if some]
    length = ' or '.join(units)
    force = ' or '.join({'rad': 'N m', 'm': 'N'}[each] for each in units)
    kinds = (('position', found.q, 'qi', length),
             ('velocity', found.v, 'vi', ' or '.join(f'{each}/s' for each in units)),
             ('force by the given model', found.torque, 'vi', force))
    return [plot(kind, [
        Line(joint.name, found.t, np.asarray(values[:, getattr(joint, at)]))
        for joint in joints[begin:begin + JOINTS_OF_PLOT]], 'time, s', unit)
        for kind, values, at, unit in kinds for begin in range(0, len(joints), JOINTS_OF_PLOT)]
