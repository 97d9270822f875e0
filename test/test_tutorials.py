# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tutorials run from an empty folder, and leave the pictures of their pages."""

from pathlib import Path
import re
import subprocess
import sys

import pytest

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted(path.stem for path in (ROOT / 'examples').glob('[0-9][0-9]_*.py'))


def run(name, folder):
    """Return what a tutorial prints in a folder."""
    result = subprocess.run([sys.executable, ROOT / 'examples' / f'{name}.py'], cwd=folder,
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize('name', TUTORIALS)
def test_a_page_has_the_command_and_the_picture(name):
    page = (ROOT / 'docs' / 'tutorials' / f'{name}.md').read_text(encoding='utf-8')
    assert f'python examples/{name}.py' in page
    assert f'../images/tutorials/{name}.png' in page
    assert f'tutorials/{name}\n' in (ROOT / 'docs' / 'index.md').read_text(encoding='utf-8')


def test_your_arm(tmp_path):
    printed = run('01_your_arm', tmp_path)
    errors = dict(re.findall(r'(payload (?:not )?known): ([\d.e+]+) mrad', printed))
    assert float(errors['payload known']) < 1.0
    assert float(errors['payload not known']) > 100.0
    assert {path.suffix for path in tmp_path.iterdir()} == {'.png', '.pdf', '.csv'}


def test_your_hexapod(tmp_path):
    printed = run('02_your_hexapod', tmp_path)
    assert float(re.search(r'within three sigma: ([\d.]+) %', printed)[1]) > 99.0
    assert (tmp_path / 'my_hexapod.yaml').is_file()
    assert (tmp_path / '02_your_hexapod.png').stat().st_size > 10_000
