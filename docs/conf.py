# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The documentation site: `make docs`. Offline; a warning is an error."""

import ast
import csv
from functools import cache
import os
from pathlib import Path
import re
import subprocess
import sys

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from numpy.typing import ArrayLike
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

project, author, copyright = 'liedyn_ros', 'The liedyn_ros authors', '2026, the liedyn_ros authors'
extensions = ['myst_parser', 'sphinx.ext.autodoc', 'sphinx.ext.viewcode']
html_math_renderer = 'mathml'  # browsers have it built in; MathJax would come from a network
html_theme, html_title = 'furo', 'liedyn_ros'
html_show_sourcelink = False
html_static_path, html_css_files, html_js_files = ['static'], ['narrow.css'], ['search.js']
html_last_updated_fmt = None  # the same sources give the same pages
myst_heading_anchors = 4
myst_enable_extensions = ['colon_fence']
autodoc_member_order = 'bysource'
autodoc_typehints = 'signature'
autodoc_default_options = {'show-inheritance': False}
highlight_language = 'none'

OUTSIDE = re.compile(r'\[([^\]]*)\]\(((?:\.\./)+)([^)#\s]*)(#[^)]*)?\)')
INTERFACES = 'liedyn_interfaces'  # whose pages rosdoc2 makes, in a folder of the site
LITERAL = re.compile(r'(`[^`]*`)')
FORMULA = re.compile(r'\$`([^`]*)`\$')  # as GitHub has it
CODE = {}  # path of a linked file, and its lexer: each has a page
WAY_BACK = re.compile(r'<a class="viewcode-back" href="([^"#]*)#([^"]*)">.*?</a>')
SPECIAL = re.compile(r'([*|\\_])')
NAME = re.compile(r'(?<=<span class="pre">)[^<]+')
SYLLABLE = re.compile(r'(?<=[_./=(,])(?=\w)|(?<=[a-z])(?=[A-Z])')
FUNCTION = re.compile(r'((?:\w+/)*\w+\.py)(?:: [\w.]+)?')
TABLE_FILE = re.compile(r'^\[([^\]]*)\]\(([^)]*\.csv)\)$', re.MULTILINE)  # alone on its line


def write_interface(app):
    """Write the headers of the C library, which its reference shows."""
    subprocess.run([sys.executable, '-m', 'liedyn_ros.build.c_interface', 'out/interface'],
                   cwd=ROOT, env=os.environ | {'LIEDYN_JIT': '1'}, check=True)


def without_links_outside(app, docname, source):
    """Write a link to a file of the repository as one to its code, and show linked tables."""
    folder = Path(app.srcdir, docname).parent

    def as_path(match):
        text, up, path, _ = match.groups()
        target = (folder / f'{up}{path}').resolve()
        if target.is_relative_to(app.srcdir) and target.exists():
            return match[0]
        if not target.exists():
            raise FileNotFoundError(f'{docname}: {match[0]} leads nowhere')
        name = str(target.relative_to(ROOT))
        if name == INTERFACES:
            return f'<a href="{"../" * docname.count("/")}{name}/index.html">{text}</a>'
        if has_code(target, name):
            up = '../' * docname.count('/')
            return f'<a href="{up}code/{name}.html{line_of(target, text)}">{text}</a>'
        return text if name in text else f'{text} (`{name}`)'

    text = TABLE_FILE.sub(lambda match: table_of(folder / match[2], match[1]), source[0])
    source[0] = FORMULA.sub(r'{math}`\1`', OUTSIDE.sub(as_path, text))


def table_of(file, title):
    """Return the table of a CSV file in Markdown; folded where its title calls it a table."""
    with file.open(encoding='utf-8', newline='') as lines:
        head, *rows = csv.reader(lines)
    if file.name.startswith('equations'):
        rows = [[FUNCTION.sub(as_function, cell) for cell in row] for row in rows]
    table = ''.join(f'| {" | ".join(cell.replace("|", chr(92) + "|") for cell in row)} |\n'
                    for row in (head, ['---'] * len(head), *rows))
    if not title.startswith('Table'):
        return table
    return f'<details><summary>{title}</summary>\n\n{table}\n</details>'


def as_function(match):
    """Return a function of the package or the tests as a link from docs/."""
    part = 'liedyn_ros' if (ROOT / 'liedyn_ros' / match[1]).is_file() else 'test'
    return f'[{match[0]}](../{part}/{match[1]})'


def has_code(target, name):
    """Return whether a file has a page of its code, and note that it is needed."""
    if name not in CODE and target.is_file() and target.suffix != '.md':
        try:
            CODE[name] = get_lexer_for_filename(name)
        except ClassNotFound:
            return False
    return name in CODE


def line_of(target, text):
    """Return the anchor of the function or class of a link such as 'lie/se3.py: inverse'."""
    _, colon, wanted = text.replace('`', '').rpartition(': ')
    if not colon or target.suffix != '.py':
        return ''
    place = ast.parse(target.read_text(encoding='utf-8'))
    for name in wanted.split('.'):
        place = next((node for node in ast.walk(place) if isinstance(
            node, (ast.FunctionDef, ast.ClassDef)) and node.name == name), place)
    return f'#L-{place.lineno}' if hasattr(place, 'lineno') else ''


def pages_of_code(app):
    """Yield a page of each linked file, its lines with anchors."""
    for name, lexer in sorted(CODE.items()):
        code = highlight((ROOT / name).read_text(encoding='utf-8'), lexer, HtmlFormatter(
            lineanchors='L', linenos='inline', anchorlinenos=True, wrapcode=True))
        yield f'code/{name}', {'title': name, 'body': f'<h1>{name}</h1>{code}'}, 'page.html'


def without_dead_ways_back(app, pagename, templatename, context, doctree):
    """Leave out links from a page of code to a description that is not on the page they name."""
    if pagename.startswith('_modules/'):
        known = app.env.domaindata['py']['objects']
        context['body'] = WAY_BACK.sub(
            lambda match: match[0] if match[2] in known
            and match[1].endswith(f'{known[match[2]].docname}.html') else '', context['body'])


def breakable(app, pagename, templatename, context, doctree):
    """Let names in code break between their words, where a narrow column needs it."""
    context['body'] = NAME.sub(lambda match: SYLLABLE.sub('<wbr>', match[0]),
                               context.get('body', ''))


def plain(app, what, name, obj, options, lines):
    """Let docstrings, text with names in backticks, sections and examples, say what they say."""
    from sphinx.ext.napoleon import GoogleDocstring

    written, example, sections = [], False, 'Returns:' in lines or 'Args:' in lines
    for line in lines:
        example = bool(line.strip()) and (example or line.lstrip().startswith('>>> '))
        indent = ' ' * sections * (len(line) - len(line.lstrip()))
        written.append(line if example else indent + ''.join(
            f'`{part}`' if part.startswith('`')
            else SPECIAL.sub(r'\\\1', part).replace('::', ':\\:')
            for part in LITERAL.split(line.strip())))
    lines[:] = GoogleDocstring(written, what=what, name=name, obj=obj).lines()


def readable(app, what, name, obj, options, signature, returns):
    """Write arguments that take anything like an array as ArrayLike, not as its eight parts."""
    return tuple(text and text.replace(spelled_out(), 'ArrayLike') for text in (
        signature, returns))


@cache
def spelled_out():
    """Return how autodoc writes ArrayLike."""
    from sphinx.util.typing import stringify_annotation

    return stringify_annotation(ArrayLike, 'smart')


def without_fields(app, what, name, obj, skip, options):
    """Leave out fields of named tuples: the docstring of the class describes them."""
    return True if type(obj).__name__ == '_tuplegetter' else None


def as_mathml(writer, node):
    """Write a formula as MathML, in a part that may scroll."""
    block = node.tagname == 'math_block'
    tag = 'div' if block else 'span'
    formula = tex2mathml(node.astext(), as_block=block)
    writer.body.append(f'<{tag} class="formula">{formula}</{tag}>')
    raise nodes.SkipNode


def setup(app):
    """Connect the functions above."""
    app.add_html_math_renderer('mathml', (as_mathml, None), (as_mathml, None))
    app.connect('builder-inited', write_interface)
    app.connect('source-read', without_links_outside)
    app.connect('html-page-context', without_dead_ways_back)
    app.connect('html-page-context', breakable)
    app.connect('autodoc-process-docstring', plain)
    app.connect('html-collect-pages', pages_of_code)
    app.connect('autodoc-process-signature', readable)
    app.connect('autodoc-skip-member', without_fields)
