# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The command that shows assembly modes: its table, picture, exit code and refusals."""

import pytest

from liedyn_ros.commands.stewart import assembly_modes


def test_the_papers_modes_are_shown_and_drawn(capsys, tmp_path):
    picture = tmp_path / 'made' / 'modes.png'
    assert assembly_modes.main(['--picture', str(picture)]) == 0
    shown = capsys.readouterr().out
    assert '4 poses; 28 complex solutions' in shown
    assert '89.28     -67.82  -142.00' in shown  # q_S2 of the paper
    assert shown.count('above') == shown.count('below') == 2
    assert picture.stat().st_size > 10_000


def test_lengths_of_no_pose_leave_nothing_to_draw(capsys, tmp_path):
    picture = tmp_path / 'modes.png'
    lengths = '0.3 0.9 0.3 0.9 0.3 0.9'.split()
    assert assembly_modes.main(['--picture', str(picture), '--lengths', *lengths]) == 0
    assert '0 poses; lengths of leg_2 and leg_3: expected to differ by' in capsys.readouterr().out
    assert not picture.exists()


@pytest.mark.parametrize(('arguments', 'message'), [
    (['--lengths', '1', '1', '1', '1', '1', '0'], 'lengths[5]: expected a positive length'),
    (['--geometry', 'missing.yaml'], 'missing.yaml: expected a readable file'),
])
def test_options_that_cannot_be_used_are_refused(capsys, arguments, message):
    assert assembly_modes.main(arguments) == 2
    assert message in capsys.readouterr().err
