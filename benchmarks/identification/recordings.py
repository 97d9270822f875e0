# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Public recordings of robots, by address; none is part of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ADDRESSES = {  # on GitHub, by the name of the clone
    'figaroh-examples': 'thanhndv212/figaroh-examples',
    'dynamic_calibration': 'muzi2018/dynamic_calibration_zidong',
    'FrankaEmikaPandaDynModel': 'marcocognetti/FrankaEmikaPandaDynModel',
    'dynamic_parameter_identification': 'lbr-stack/dynamic_parameter_identification'}
PANDA = 'cmeel.prefix/share/example-robot-data/robots/panda_description/urdf/panda.urdf'


class Case(NamedTuple):
    """A recording: time (n,), q, v or None, and tau (n, joints), in the units of the URDF."""

    urdf: Path
    joints: Sequence[str]
    time: Array
    q: Array
    v: Array | None
    tau: Array
    cutoff: float  # Hz, of FIGAROH's filter and of the plain fit's


def tiago(clones: Path) -> Case:
    """Return the recording of a mobile manipulator: 80 s of a lift and seven joints."""
    examples = clones / 'figaroh-examples' / 'examples'
    folder = examples / 'tiago' / 'data' / 'identification' / 'dynamic'
    position, velocity, effort = (np.loadtxt(
        folder / f'tiago_{kind}.csv', delimiter=',', skiprows=1)
        for kind in ('position', 'velocity', 'effort'))
    constants = np.array([1.0, 0.136, 0.136, -0.087, -0.087, -0.0613, -0.0613, -0.0613])
    ratios = np.array([1.0, 100.0, 100.0, 100.0, 100.0, 336.0, 336.0, 336.0])
    return Case(examples / 'tiago' / 'urdf' / 'tiago_48_schunk.urdf',
                ('torso_lift_joint', *(f'arm_{k}_joint' for k in range(1, 8))),
                position[:, 0], position[:, 1:], velocity[:, 1:],
                effort[:, 1:] * constants * ratios, 2.0)


def tx40(clones: Path) -> Case:
    """Return the recording of an industrial arm: 9 s of six motors; the wrist is coupled."""
    folder = clones / 'figaroh-examples' / 'examples' / 'staubli_TX40'
    position, current = (np.loadtxt(folder / 'data' / f'{kind}_data.csv', delimiter=',',
                                    skiprows=1) for kind in ('pos_read', 'curr'))
    ratios = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
    ratios[5, 4] = ratios[5, 5]
    q = np.linalg.solve(ratios, position.T).T + np.pi / 2.0 * np.array([0, -1, 1, 0, 0, 0])
    return Case(folder / 'urdf' / 'tx40_mdh_modified.urdf',
                tuple(f'joint_{k}' for k in range(1, 7)), 2e-4 * np.arange(len(q)), q, None,
                current @ ratios, 100.0)


def ur10e(clones: Path, name: str = 'ur-20_02_19_14harm50sec') -> Case:
    """Return a recording of a UR10e: 56 s at 100 Hz, currents by its authors' constants."""
    folder = next((clones / 'dynamic_calibration').rglob('URe')).parent
    rows = np.loadtxt(next(folder.rglob(f'{name}.csv')), delimiter=',', usecols=range(19))
    return Case(folder / 'URe' / 'urdf' / 'ur10e.urdf',
                ('shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint',
                 'wrist_2_joint', 'wrist_3_joint'), rows[:, 0] - rows[0, 0], rows[:, 1:7],
                rows[:, 7:13], rows[:, 13:19] * [14.87, 13.26, 11.13, 10.62, 11.03, 11.47], 5.0)


def panda(clones: Path) -> Case:
    """Return the recording of a Panda: 21 s at 1 kHz; the URDF is of example-robot-data."""
    from importlib import metadata
    folder = next((clones / 'FrankaEmikaPandaDynModel').rglob('rbt_log'))
    time, q, v, tau = (np.loadtxt(folder / f'exciting_traj_{kind}.txt') for kind in (
        'time', 'positions', 'velocity', 'torques'))
    q, v, tau = (each.reshape(len(time), 7) for each in (q, v, tau))
    fresh = np.concatenate([[True], np.diff(time) > 0.0])
    urdf = Path(str(metadata.distribution('example-robot-data').locate_file(PANDA)))
    return Case(urdf, tuple(f'panda_joint{k}' for k in range(1, 8)), time[fresh], q[fresh],
                v[fresh], tau[fresh], 5.0)


def med7(clones: Path) -> Case:
    """Return the recording of an LBR Med7: 16 s at 100 Hz, efforts with FRI's sign."""
    folder = clones / 'dynamic_parameter_identification'
    with (folder / 'src' / 'test' / 'measurements.csv').open(encoding='utf-8') as stream:
        head, *lines = (line.split(',') for line in stream)
    rows = np.array([line for line in lines if len(line) == len(head)], dtype=float)
    return Case(folder / 'urdf' / 'med' / 'med7dock.urdf', tuple(f'A{k}' for k in range(1, 8)),
                0.01 * np.arange(len(rows)), rows[:, :7], None, -rows[:, 7:14], 5.0)


CASES: dict[str, Callable[[Path], Case]] = {
    'tiago': tiago, 'tx40': tx40, 'ur10e': ur10e, 'panda': panda, 'med7': med7}
