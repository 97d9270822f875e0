# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A figure stands in one place: README's come from the page of figures, by a command."""

from pathlib import Path
import re

import pytest

from benchmarks.readme import sentences

ROOT = Path(__file__).parents[2]


def test_the_ratios_of_readme_are_those_of_the_figures():
    wanted = sentences((ROOT / 'docs' / 'figures.md').read_text())
    assert wanted in (ROOT / 'README.md').read_text(), 'python -m benchmarks.readme'


@pytest.mark.parametrize('words', [
    r'(20 000 random poses)', r'to (1e-12 m)', r'in (\d+) iterations on average',
    r'path by (\d\.\d mm)'])
def test_other_numbers_of_readme_are_those_of_the_results(words):
    number = re.search(words, ' '.join((ROOT / 'README.md').read_text().split()))[1]
    pages = ('results.md', 'guides/retiming.md')
    assert any(number in (ROOT / 'docs' / page).read_text() for page in pages)
