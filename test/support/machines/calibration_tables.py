# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tables of a calibration: readings of legs and what an instrument saw, by columns."""

import numpy as np

from liedyn_ros.lie import SE3, so3

XYZ = ('x', 'y', 'z')


def leg_columns(names, readings):
    """Return columns of readings (n, legs) by the legs' names."""
    return dict(zip(names, readings.T))


def measured_columns(measured, orientation='rpy'):
    """Return the columns of what was measured, angles in degrees."""
    columns, rotations = {}, measured.rotations
    for k in range(measured.points.shape[1]):
        name = f'p{k + 1}.' if measured.points.shape[1] > 1 else ''
        columns |= {f'{name}{axis}': measured.points[:, k, j] for j, axis in enumerate(XYZ)}
    if rotations is not None and orientation == 'rpy':
        turned = np.tile(np.eye(4), (len(rotations), 1, 1))
        turned[:, :3, :3] = rotations
        angles = np.degrees([SE3.from_matrix(each).rotation.rpy for each in turned])
        columns |= dict(zip(('roll [deg]', 'pitch [deg]', 'yaw [deg]'), angles.T))
    elif rotations is not None:
        columns |= dict(zip(('qx', 'qy', 'qz', 'qw'), so3.to_quaternion(rotations).T))
    return columns


def write_table(path, columns):
    """Write columns by name, with all digits; return the path."""
    np.savetxt(path, np.column_stack(list(columns.values())), delimiter=',', comments='',
               header=','.join(columns), fmt='%.17g')
    return path
