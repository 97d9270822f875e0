# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Trees of rigid bodies and joints: described in URDF, YAML or Python, immutable once built."""

from liedyn_ros.model.builder import ModelBuilder
from liedyn_ros.model.configuration import DifferenceDerivatives, RetractionDerivatives
from liedyn_ros.model.expansion import LinkTable
from liedyn_ros.model.io.loading import load_model
from liedyn_ros.model.io.mjcf.reader import load_mjcf
from liedyn_ros.model.io.mjcf_writer import to_mjcf
from liedyn_ros.model.io.sdf.reader import load_sdf
from liedyn_ros.model.io.sdf_writer import to_sdf
from liedyn_ros.model.io.urdf import load_urdf, to_urdf, updated_urdf
from liedyn_ros.model.io.yaml_reader import annotate, load_yaml, updated_yaml
from liedyn_ros.model.model import Model
from liedyn_ros.model.parts.body import Body, Frame, SpatialInertia, Visual
from liedyn_ros.model.parts.constraints import Closure, CLOSURE_TYPES, Coupling
from liedyn_ros.model.parts.geometry import pose
from liedyn_ros.model.parts.joints import Joint, JOINT_TYPES, Limits
from liedyn_ros.model.parts.rotors import Rotor, RotorAllocation, RotorCommand
from liedyn_ros.model.plausibility import implausible
from liedyn_ros.model.replacement import (
    inertia_of, scale_masses, with_armatures, with_gravity, with_inertias, with_placements,
    with_resistances)

__all__ = [
    'annotate', 'Body', 'Closure', 'CLOSURE_TYPES', 'Coupling', 'DifferenceDerivatives', 'Frame',
    'implausible', 'inertia_of', 'Joint', 'JOINT_TYPES', 'Limits', 'LinkTable', 'load_mjcf',
    'load_model', 'load_sdf', 'load_urdf', 'load_yaml', 'Model', 'ModelBuilder', 'pose',
    'RetractionDerivatives', 'Rotor', 'RotorAllocation', 'RotorCommand', 'scale_masses',
    'SpatialInertia', 'to_mjcf', 'to_sdf', 'to_urdf', 'updated_urdf', 'updated_yaml', 'Visual',
    'with_armatures', 'with_gravity', 'with_inertias', 'with_placements', 'with_resistances']
