# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Pictures are drawn in another process; what it raises is raised."""

from pathlib import Path
import time

import pytest

from liedyn_ros.demo import processes
from liedyn_ros.demo.processes import Drawings


def test_all_are_drawn(tmp_path) -> None:
    with Drawings() as drawings:
        drawings.draw(Path.touch, tmp_path / 'one')
        drawings.draw(Path.touch, tmp_path / 'other')
    assert sorted(path.name for path in tmp_path.iterdir()) == ['one', 'other']


def test_what_fails_is_raised(tmp_path) -> None:
    with pytest.raises(FileNotFoundError), Drawings() as drawings:
        drawings.draw(Path.rmdir, tmp_path / 'none')


def test_what_takes_too_long_is_left_out(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(processes, 'DRAWING_TIMEOUT', 5.0)
    with Drawings() as drawings:
        drawings.draw(Path.touch, tmp_path / 'one')
        drawings.draw(time.sleep, 3600.0)
    assert 'drawings are left out' in capsys.readouterr().out
