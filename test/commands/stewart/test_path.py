# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The command liedyn platform path: its output and exit codes."""

import numpy as np
import pytest

from liedyn_ros.commands.stewart import path

POSES = [(0.0, 0.0, 0.5, 0.0, 0.0, 0.0), (0.05, 0.02, 0.48, 5.0, -8.0, 12.0),
         (-0.04, 0.06, 0.53, -7.0, 4.0, -15.0)]


def test_a_path_is_proved_or_the_piece_is_named(tmp_path, capsys):
    file = tmp_path / 'path.txt'
    np.savetxt(file, POSES)
    assert path.main([str(file)]) == 0
    assert 'proved: no singularity' in capsys.readouterr().out
    np.savetxt(file, [*POSES, (0.0, 0.0, 0.5, 0.0, 0.0, 120.0)])
    assert path.main([str(file), '--tube-radius', '1e-3', '--tube-angle', '0.1']) == 1
    assert 'not proved from 3.' in capsys.readouterr().out
    assert path.main([str(tmp_path / 'none.txt')]) == 2
    assert 'expected a readable text file' in capsys.readouterr().err


def test_speeds_and_forces_are_proved_or_their_leg_is_named(tmp_path, capsys):
    file = tmp_path / 'path.txt'
    np.savetxt(file, POSES)
    load = ['--force-limit', '150', '--force', '0', '0', '-200', '--point', '0', '0', '0.05']
    assert path.main([str(file), '--speed-limit', '0.2', '--duration', '2', *load]) == 0
    printed = capsys.readouterr().out
    assert 'greatest speed, upper bounds: leg_1' in printed and 'greatest force' in printed
    assert path.main([str(file), '--speed-limit', '0.2', '--duration', '0.1']) == 1
    assert 'the speed of leg_' in capsys.readouterr().out
    assert path.main([str(file), '--force-limit', '20', '--further-force', '100']) == 1
    assert 'the force of leg_' in capsys.readouterr().out
    assert path.main([str(file), '--speed-limit', '0.2', '--duration', '-1']) == 2
    assert 'durations: expected' in capsys.readouterr().err


@pytest.mark.parametrize(('given', 'missing'), [
    (['--force', '0', '0', '-90000'], '--force-limit'),
    (['--point', '0', '0', '1'], '--force-limit'),
    (['--further-force', '1'], '--force-limit'), (['--further-moment', '1'], '--force-limit'),
    (['--duration', '1e-6'], '--speed-limit')])
def test_a_load_without_a_limit_is_refused(tmp_path, capsys, given, missing):
    np.savetxt(tmp_path / 'path.txt', POSES)
    assert path.main([str(tmp_path / 'path.txt'), *given]) == 2
    assert f'{missing}: expected one beside' in capsys.readouterr().err
