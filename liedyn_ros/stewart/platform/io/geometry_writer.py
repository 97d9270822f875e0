# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Geometry files with calibrated joints and their covariance; all else stays as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from liedyn_ros.common.errors import GeometryError
from liedyn_ros.common.yaml_reader import Node, read, write_text
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.description.geometry_covariance import turned_covariance
from liedyn_ros.stewart.platform.io.geometry_file import load_geometry, tool_of


def updated_geometry(source: str | Path, geometry: StewartGeometry) -> str:
    """
    Return the text of a geometry file with the joints and the covariance of a geometry of it.

    Limits, leg types, masses and the tool stay; comments are lost. Raises GeometryError for a
    geometry whose legs are others, or for a file that cannot be read.
    """
    if load_geometry(source).leg_names != geometry.leg_names:
        raise GeometryError(f'{source}: expected the legs {list(geometry.leg_names)}, got '
                            f'{list(load_geometry(source).leg_names)}')
    content: dict[str, Any] = read(source, 'geometry').value
    covariance, platform = geometry.calibration_covariance, geometry.platform_joints
    tool = content.get('tool')
    if tool is not None:  # the file has joints and covariance in the frame before it
        pose = tool_of(Node(tool, 'tool'))
        platform = platform @ pose[:3, :3].T + pose[:3, 3]
        if covariance is not None:
            covariance = turned_covariance(covariance, len(platform), pose[:3, :3].T)
    for name, base, joint in zip(geometry.leg_names, geometry.base_joints, platform):
        content['legs'][name] = {
            **content['legs'][name], 'base': base.tolist(), 'platform': joint.tolist()}
    content.pop('calibration_covariance', None)
    if covariance is not None:
        content['calibration_covariance'] = [
            row[:k + 1].tolist() for k, row in enumerate(np.asarray(covariance))]
    return write_text(content)
