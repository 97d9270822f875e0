# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The front door: from a file to the object that computes with it."""

from __future__ import annotations

from collections.abc import Mapping
import os
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from liedyn_ros.common.errors import DescriptionError
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import annotate, load_model, Model

if TYPE_CHECKING:
    from liedyn_ros.dynamics.constrained import ConstrainedDynamics


def load(source: str | os.PathLike[str] | Model, *, floating: bool = False,
         dissipation: bool = True, strict: bool = False, gravity: ArrayLike | None = None,
         arguments: Mapping[str, str] | None = None, sdf_model: str | None = None,
         loops: str | os.PathLike[str] | None = None) -> Dynamics | ConstrainedDynamics:
    """
    Return the dynamics of a robot from a file, a text or a Model.

    Args:
        source: .urdf, .xacro, .xml of MJCF, .sdf or .yaml; a text of URDF, MJCF or SDF; a Model.
        floating: whether the root moves freely, if the file does not decide it.
        dissipation: whether damping and friction of the joints count; Pinocchio leaves them out.
        strict: whether to refuse what is otherwise a warning.
        gravity: (3,), m/s^2, in place of the file's.
        arguments: of a xacro file, by name.
        sdf_model: name of one of the models of an SDF world.
        loops: a YAML file beside the model with closures, couplings and passive joints.

    Returns:
        a ConstrainedDynamics if the model has closures or couplings, such as mimic joints, else a
        Dynamics.

    Raises:
        DescriptionError: for a file that does not describe a robot, or options of another format.

    >>> ld.load(config_file('arm.urdf')).model.nv
    6
    """
    if isinstance(source, Model):
        options = {'floating': floating, 'strict': strict, 'gravity': gravity is not None,
                   'arguments': bool(arguments), 'sdf_model': sdf_model is not None}
        given = [name for name, value in options.items() if value]
        if given:
            raise DescriptionError(f'expected no options of a file for a Model, got {given}')
        model = source
    else:
        model = load_model(source, floating=floating, strict=strict, gravity=gravity,
                           arguments=arguments, sdf_model=sdf_model)
    if loops is not None:
        model = annotate(model, loops)
    if not (model.closures or model.couplings):
        return Dynamics(model, dissipation=dissipation)
    from liedyn_ros.dynamics.constrained import ConstrainedDynamics  # which no tree needs
    return ConstrainedDynamics(model, dissipation=dissipation)
