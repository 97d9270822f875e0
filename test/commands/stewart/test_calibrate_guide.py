# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The commands of the guide run as they stand, from an empty folder."""

from pathlib import Path
import re
import shutil

import numpy as np
import pytest
from support.platforms.calibration import built, seen, spread
from support.recordings.calibration_tables import (
    leg_columns, measured_columns, stands_bag, write_table)
from support.scripts import run_command

from liedyn_ros.common.resources import config_file
from liedyn_ros.lie import se3
from liedyn_ros.stewart import load_geometry

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / 'docs/guides/calibrate.md').read_text()
COMMANDS = [line for block in re.findall(r'```sh\n(.*?)```', GUIDE, re.DOTALL)
            for line in block.splitlines()]
RUN = [line for line in COMMANDS if line.startswith('liedyn ')]


@pytest.mark.full
def test_from_a_folder_with_a_table_to_a_calibrated_platform(tmp_path):
    source = config_file('stewart_geometry.yaml')
    shutil.copy(source, tmp_path / 'my_platform.yaml')
    home = se3.from_rotation_translation(np.eye(3), [0.0, 0.0, 0.5])
    rng, drawing = np.random.default_rng(8), load_geometry(source)
    machine, poses = built(drawing, rng), spread(home, 40, rng)
    write_table(tmp_path / 'samples.csv', leg_columns(
        drawing.leg_names, machine.readings(poses, rng)) | measured_columns(
            seen('full', poses, rng, known=False)))
    stands_bag(tmp_path / 'my_bag', machine, poses[:20], rng)
    assert len(RUN) == 3
    for line in RUN:
        code = run_command(line, tmp_path)
        assert code == 0 or (code == 1 and 'platform path' in line)
    for folder in ('calibrated', 'from_bag'):
        found = load_geometry(tmp_path / folder / 'my_platform_calibrated.yaml')
        assert found.calibration_covariance is not None
        for name in re.findall(r'^\| `(.*?)` \|', GUIDE, re.MULTILINE)[:5]:
            assert (tmp_path / folder / name).is_file()
