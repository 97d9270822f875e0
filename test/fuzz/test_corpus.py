# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Each input of the fuzzers' corpus: no foreign error, and only finite answers."""

from pathlib import Path

from fuzz.target import CORPUS, folder, NAMES
import pytest
from support import forked

pytestmark = pytest.mark.full

MAX_BYTES = 300_000  # of the corpus
CASES = [pytest.param(name, id=name, marks=pytest.mark.ros if name.startswith('ros.') else ())
         for name in NAMES]


# Targets bound their process and exchange parts of the package, for good.
CHECK = """
import sys
from fuzz.target import corpus, target
chosen = target(sys.argv[1])
run = chosen.make()
for path in corpus(sys.argv[1]):
    run(path.read_bytes())
assert all(map(run, chosen.seeds()))
"""


@pytest.mark.parametrize('name', CASES)
def test_no_input_of_the_corpus_fails(name):
    if name == 'core.xacro':
        pytest.importorskip('xacro')
    result = forked.run('-c', CHECK, name, cwd=Path(__file__).parents[2])
    assert result.returncode == 0, result.stderr


def test_the_corpus_is_small():
    assert {*CORPUS.iterdir()} == set(map(folder, NAMES))
    assert sum(path.stat().st_size for path in CORPUS.rglob('*') if path.is_file()) < MAX_BYTES
