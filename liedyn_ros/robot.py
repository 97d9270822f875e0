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
from liedyn_ros.model import load_model, Model

if TYPE_CHECKING:
    from liedyn_ros.dynamics.constrained import ConstrainedDynamics


def load(source: str | os.PathLike[str] | Model, *, floating: bool = False,
         dissipation: bool = True, strict: bool = False, gravity: ArrayLike | None = None,
         arguments: Mapping[str, str] | None = None, sdf_model: str | None = None
         ) -> Dynamics | ConstrainedDynamics:
    """
    Return the dynamics of a robot from a file, a text or a Model.

    Files are .urdf, .xacro, .xml of MJCF, .sdf and .yaml; a text is URDF, MJCF or SDF.

    It is a ConstrainedDynamics where the model has closures or couplings, such as mimic joints,
    and a Dynamics otherwise. Without dissipation, damping and friction of the joints are left out,
    as Pinocchio does. The other options are those of load_model. Raises DescriptionError.
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
    if not (model.closures or model.couplings):
        return Dynamics(model, dissipation=dissipation)
    from liedyn_ros.dynamics.constrained import ConstrainedDynamics  # which no tree needs
    return ConstrainedDynamics(model, dissipation=dissipation)
