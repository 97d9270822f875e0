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

"""The snippets of README and docs, run one after the other, and what they say is printed."""

from pathlib import Path
import re

import pytest

ROOT = Path(__file__).parents[1]
SNIPPET = re.compile(
    r'^```python\n(?P<code>.*?)^```\n(\n```text\n(?P<printed>.*?)^```\n)?',
    re.DOTALL | re.MULTILINE)
PAGES = [page for page in (ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md')))
         if SNIPPET.search(page.read_text())]


def test_pages_with_snippets_are_found():
    assert {'README.md', 'dynamics.md'} <= {page.name for page in PAGES}


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_snippets_run(page, capsys):
    text, scope = page.read_text(), {}
    for snippet in SNIPPET.finditer(text):
        before = '\n' * text.count('\n', 0, snippet.start('code'))  # for lines in tracebacks
        exec(compile(before + snippet['code'], page, 'exec'), scope)
        printed = capsys.readouterr().out
        assert snippet['printed'] in (None, printed)
