# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What the studies' commands say of themselves, and of options that they do not have."""

import pytest

from liedyn_ros.studies import (
    actuator_lag, assembly_modes, higher_order, stewart, stewart_workspace)

COMMANDS = {
    'actuator_lag': actuator_lag, 'assembly_modes': assembly_modes,
    'reproduce_higher_order': higher_order, 'reproduce_stewart': stewart,
    'stewart_workspace': stewart_workspace}


@pytest.mark.parametrize(('name', 'study'), COMMANDS.items(), ids=COMMANDS)
def test_help_and_unknown_options(name, study, capsys):
    with pytest.raises(SystemExit, match=r'^0$'):
        study.main(['--help'])
    assert capsys.readouterr().out.startswith(f'usage: {name} ')
    with pytest.raises(SystemExit, match=r'^2$'):
        study.main(['--no-such-option'])
    assert 'unrecognized arguments: --no-such-option' in capsys.readouterr().err
