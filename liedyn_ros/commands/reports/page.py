# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A page of HTML without any other file: headings, sentences, tables and plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
import platform
from typing import Any

from liedyn_ros.commands.operation.environment import PACKAGE
from liedyn_ros.commands.reports.plot import SCRIPT
from liedyn_ros.common.markup import as_html

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 960px; margin: 2em auto; padding: 0 1em;
       color: #222; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: .6em 0 1.2em;
        font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #ccc; padding: .2em .8em; text-align: right; }
th:first-child, td:first-child { text-align: left; }
svg.plot { width: 100%; touch-action: none; cursor: grab; margin-bottom: .8em; }
svg.plot > svg { background: #fafafa; }
svg.plot polyline { fill: none; stroke-width: 1.3; vector-effect: non-scaling-stroke; }
svg.plot text { font: 12px system-ui, sans-serif; }
svg.plot .title { font-weight: 600; }
.good { color: #00664b; } .bad { color: #a03c00; }
"""
PACKAGES = 'numpy', 'scipy', 'clarabel', 'rosbags', 'mcap'


class Page:
    """Builds one page; all texts are escaped, but plots are SVG of this package."""

    def __init__(self, title: str) -> None:
        """Begin with a title."""
        self._title = title
        self._parts = [f'<h1>{as_html(title)}</h1>']

    def heading(self, text: str) -> None:
        """Add a heading."""
        self._parts.append(f'<h2>{as_html(text)}</h2>')

    def text(self, text: str, kind: str = '') -> None:
        """Add a paragraph; kind is '', 'good' or 'bad'."""
        self._parts.append(f'<p class="{as_html(kind)}">{as_html(text)}</p>')

    def items(self, texts: Sequence[str]) -> None:
        """Add a list."""
        self._parts.append(
            '<ul>' + ''.join(f'<li>{as_html(text)}</li>' for text in texts) + '</ul>')

    def table(self, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Add a table."""
        head = ''.join(f'<th>{as_html(each)}</th>' for each in header)
        body = ''.join('<tr>' + ''.join(f'<td>{as_html(str(cell))}</td>' for cell in row) + '</tr>'
                       for row in rows)
        self._parts.append(f'<table><tr>{head}</tr>{body}</table>')

    def plots(self, plots: Sequence[str]) -> None:
        """Add plots, with how they zoom."""
        self._parts.append('<p>Wheel: zoom, with Shift along the time only. Drag: move. '
                           'Double click: all.</p>')
        self._parts += plots

    def settings(self, settings: Mapping[str, Any]) -> None:
        """Add a table of settings, and the versions that were used."""
        self.heading('Settings and versions')
        self.table(['setting', 'value'], [
            (name, 'none' if str(value) in ('None', '[]') else value)
            for name, value in settings.items()])
        own = [('liedyn_ros', PACKAGE.__version__), ('Python', platform.python_version())]
        self.table(['package', 'version'], [*own, *(
            (name, found) for name in PACKAGES if (found := _version(name)))])

    def html(self) -> str:
        """Return the page."""
        return ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
                f'<title>{as_html(self._title)}</title><style>{STYLE}</style></head><body>'
                + '\n'.join(self._parts) + f'<script>{SCRIPT}</script></body></html>\n')


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ''
