# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Plain English: words and sentences that CONTRIBUTING refuses do not occur."""

from hashlib import sha256
from pathlib import Path
import re

import pytest
from tools import english
from tools.english import offenders, reason

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
TEXT = ('.md', '.rst', '.py', '.msg', '.srv', '.yaml', '.xml', '.rviz', '.sh', '.txt')
# Bracketed, so that this file does not refuse itself.
REFUSED = re.compile(
    r'\b(ane[w]|nough[t]|(of|not) our[s]|speaks? (fo[r]|agains[t])|is to be sai[d]'
    r'|there is none o[f])\b'
    r'|\b(MOS[T]|FURTHES[T]|PATIENC[E])(_|\b)')
FOLDERS = ['.', 'benchmarks', 'config', 'docs', 'examples', 'fuzz', 'launch', 'liedyn_interfaces',
           'liedyn_ros', 'test', 'tools']
PARTS = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.rst', 'QUALITY_DECLARATION.md',
         *FOLDERS[1:]]


def words(line):
    """Return a line with spaces in place of underscores."""
    return line.replace('_', ' ')


@pytest.mark.parametrize('folder', FOLDERS)
def test_lines(folder):
    """Words of a private vocabulary occur in no line of text or code."""
    paths = (ROOT / folder).glob('*') if folder == '.' else (ROOT / folder).rglob('*')
    found = []
    for path in paths:
        if path.suffix in TEXT and '__pycache__' not in path.parts:
            text = path.read_text()
            if not any(map(REFUSED.search, (text, words(text)))):
                continue
            for number, line in enumerate(text.splitlines(), start=1):
                found += [f'{path.relative_to(ROOT)}:{number}: {match[0]}'
                          for text in (line, words(line)) for match in REFUSED.finditer(text)]
    assert found == []


@pytest.mark.parametrize('part', PARTS)
def test_sentences(part, cache):
    """
    Sentences are short, without chains of pronouns and household words.

    Each file that has changed since it was in order is read; with other rules all are.
    """
    rules, known = Path(english.__file__).read_bytes(), cache.get(f'english/{part}', {})
    found = {str(path.relative_to(ROOT)): sha256(rules + path.read_bytes()).hexdigest()
             for path in english.files([ROOT / part])}
    changed = [ROOT / name for name, digest in found.items() if known.get(name) != digest]
    assert [f'{each.path.relative_to(ROOT)}:{each.line}: {why}: {each.text}'
            for each, why in offenders(changed)] == []
    cache.set(f'english/{part}', found)


@pytest.mark.parametrize('text', [
    'Scratch buffers of one model; undefined between calls.',
    'It takes what the node publishes, and that alone.',
    'A machine of six degrees of freedom.',
    'Shapes (a, b, c), (d, e, f) are not counted among the twenty-five words that a sentence of '
    'a docstring or of a page may have.'])
def test_accepted(text):
    assert reason(text) is None


@pytest.mark.parametrize(('text', 'why'), [
    ('Return what those that leave that say.', '4 of what, that, those, which'),
    ('Room of one model.', '"Room", better: folder, package, scratch buffer'),
    ('What the kernel is told.', '"told", better: given, reported, passed'),
    (' '.join(['word'] * 26), '26 words')])
def test_refused(text, why):
    assert reason(text) == why


@pytest.mark.parametrize(('name', 'text', 'line'), [
    ('a.md', 'Good.\n\n```python\nroom = 1\n```\n\nBad\nroom.', 7),
    ('a.md', '| good | bad room |\n', 1),
    ('a.py', '"""Good."""\n\n\ndef f():\n    """Return bad room."""\n', 5),
    ('a.py', 'room = 1  # good\n# bad\n# room\n', 2),
    ('a.py', "raise ValueError(\n    f'{x}: room')\n", 2),
    ('a.msg', 'float64 room  # good\nfloat64 y  # bad room\n', 2),
    ('a.yaml', 'a: 1\n# bad\n# room\n', 2)])
def test_prose_is_found(tmp_path, name, text, line):
    """In documents, docstrings, comments and error messages; code is none."""
    path = tmp_path / name
    path.write_text(text)
    assert [(found.line, 'room' in why) for found, why in offenders([path])] == [(line, True)]
