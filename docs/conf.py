# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The documentation site: `make docs`. Offline; a warning is an error."""

import os
from pathlib import Path
import re
import sys

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault('LIEDYN_QUIET', '1')

project, author, copyright = 'liedyn_ros', 'The liedyn_ros authors', '2026, the liedyn_ros authors'
extensions = ['myst_parser', 'sphinx.ext.autodoc', 'sphinx.ext.viewcode']
html_math_renderer = 'mathml'  # browsers have it built in; MathJax would come from a network
html_theme, html_title = 'furo', 'liedyn_ros'
html_show_sourcelink = False
html_last_updated_fmt = None  # the same sources give the same pages
myst_heading_anchors = 4
autodoc_member_order = 'bysource'
autodoc_typehints = 'signature'
autodoc_default_options = {'show-inheritance': False}
highlight_language = 'none'

OUTSIDE = re.compile(r'\[([^\]]*)\]\(((?:\.\./)+)([^)#\s]*)(#[^)]*)?\)')
LITERAL = re.compile(r'(`[^`]*`)')
FORMULA = re.compile(r'\$`([^`]*)`\$')  # as GitHub has it
SPECIAL = re.compile(r'([*|\\_])')


def without_links_outside(app, docname, source):
    """Write a link to a file of the repository that is no page as the path of the file."""
    folder = Path(app.srcdir, docname).parent

    def as_path(match):
        text, up, path, _ = match.groups()
        target = (folder / f'{up}{path}').resolve()
        if target.is_relative_to(app.srcdir) and target.exists():
            return match[0]
        if not target.exists():
            raise FileNotFoundError(f'{docname}: {match[0]} leads nowhere')
        name = str(target.relative_to(ROOT))
        return text if name in text else f'{text} (`{name}`)'

    source[0] = FORMULA.sub(r'{math}`\1`', OUTSIDE.sub(as_path, source[0]))


def plain(app, what, name, obj, options, lines):
    """Let docstrings, which are plain text with names between backticks, say what they say."""
    lines[:] = [''.join(
        f'`{part}`' if part.startswith('`') else SPECIAL.sub(r'\\\1', part).replace('::', ':\\:')
        for part in LITERAL.split(line.strip())) for line in lines]


def without_fields(app, what, name, obj, skip, options):
    """Leave out fields of named tuples: the docstring of the class describes them."""
    return True if type(obj).__name__ == '_tuplegetter' else None


def as_mathml(writer, node):
    """Write a formula as MathML."""
    writer.body.append(tex2mathml(node.astext(), as_block=node.tagname == 'math_block'))
    raise nodes.SkipNode


def setup(app):
    """Connect the functions above."""
    app.add_html_math_renderer('mathml', (as_mathml, None), (as_mathml, None))
    app.connect('source-read', without_links_outside)
    app.connect('autodoc-process-docstring', plain)
    app.connect('autodoc-skip-member', without_fields)
