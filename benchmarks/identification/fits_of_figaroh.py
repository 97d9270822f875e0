# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""FIGAROH's fits of a recording, by its own Python: called by benchmarks.identification."""

from pathlib import Path
import sys
import time
from typing import Any

from figaroh.identification.base_identification import BaseIdentification
from figaroh.tools.load_robot import load_robot
from figaroh.tools.regressor import build_regressor_reduced
import numpy as np
import yaml


SAMPLES: dict[str, Any] = {}
METHODS = (('plain', False, 'fit'), ('weighted', True, 'fit'), (
    'possible', True, 'physical_fit'))  # name, weighted, and FIGAROH's select_stage


class Identification(BaseIdentification):
    """The pipeline as it is, on samples from memory, at a rate in Hz."""

    rate = 0.0

    def load_trajectory_data(self, data_source=None):
        """Return the samples."""
        return dict(SAMPLES)

    def print_quality_report(self):
        """Print nothing, as reports are no part of the time of a fit."""


def configured(robot: Any, folder: Path, cutoff: float, joints: list[str], stage: str
               ) -> Identification:
    """Return the pipeline of some joints, whose result is that of a stage."""
    fit = Identification(robot, str(folder / 'robot.yaml'))
    fit.filter_config = {
        'differentiation_method': 'gradient',
        'filter_params': {'nbutter': 4, 'f_butter': cutoff, 'med_fil': 5, 'f_sample': fit.rate}}
    config = fit.identif_config
    config['active_joints'], config['select_stage'] = joints, stage
    config['act_Jid'] = [fit.model.getJointId(name) for name in joints]
    config['act_J'] = [fit.model.joints[k] for k in config['act_Jid']]
    config['act_idxq'] = [each.idx_q for each in config['act_J']]
    config['act_idxv'] = [each.idx_v for each in config['act_J']]
    fit.initialize()
    return fit


def predicted(fit: Identification) -> np.ndarray:
    """Return the forces (n, joints) of a fit at all samples, NaN where it has none."""
    count = len(SAMPLES['timestamps'])
    if fit.selected is None:
        columns = build_regressor_reduced(fit.dynamic_regressor, fit._idx_eliminated)
        tau = columns[:, fit._base_indices] @ fit.phi_base
    elif fit.selected.accepted:
        tau = fit.selected.predict(fit.dynamic_regressor)
    else:
        print(f'FIGAROH: {fit.selected.reason}', file=sys.stderr)
        return np.full(SAMPLES['torques'].shape, np.nan)
    return tau.reshape(-1, count).T[:, fit.identif_config['act_idxv']]


def main(folder: Path, cutoff: float, joints: list[str]) -> None:
    """Write the unseen forces of each part and method, and the time of one fit of each."""
    data = np.load(folder / 'data.npz')
    Identification.rate = 1.0 / float(np.median(np.diff(data['time'])))
    (folder / 'robot.yaml').write_text(yaml.safe_dump({
        'robot': {'name': 'robot', 'properties': {'joints': {'active_joints': joints}}},
        'tasks': {'identification': {
            'enabled': True,
            'problem': {'model_components': {
                'friction': True, 'joint_offset': True, 'actuator_inertia': True}},
            'signal_processing': {
                'sampling_frequency': Identification.rate, 'cutoff_frequency': cutoff,
                'filter_order': 4}}}}))
    SAMPLES.update({
        'timestamps': data['time'][:, None], 'positions': data['q'],
        'velocities': data['v'] if data['v'].size else None, 'accelerations': None,
        'torques': data['tau']})
    robot = load_robot(str(folder / 'robot.urdf'), package_dirs=str(folder))
    found = {}
    for name, weighted, stage in METHODS:
        begin = time.process_time()
        fit = configured(robot, folder, cutoff, joints, stage)
        fit.solve(plotting=False, wls=weighted)
        found[f'time of {name}'] = np.array(time.process_time() - begin)
        found[name] = np.full(data['tau'].shape, np.nan)
        for part, seen in zip(data['part'], data['seen']):
            fit._sample_mask = seen
            fit.solve(plotting=False, wls=weighted)
            found[name][part] = predicted(fit)[part]
    np.savez(folder / 'result.npz', **found)


if __name__ == '__main__':
    main(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
