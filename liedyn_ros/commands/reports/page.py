# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A page of HTML without any other file: the verdict first, then sentences, tables and plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
import platform
from typing import Any, NamedTuple

from liedyn_ros.commands.operation.environment import LIEDYN_PACKAGE
from liedyn_ros.commands.reports.plot import SCRIPT
from liedyn_ros.common.markup import as_html

PAGE_STYLE = """
:root { color-scheme: light dark; --text: #222; --paper: #fff; --line: #ccc; --plot: #f5f5f5;
        --good: #00664b; --bad: #a03c00; }
@media (prefers-color-scheme: dark) {
  :root { --text: #ddd; --paper: #161616; --line: #444; --plot: #222; --good: #4fc49a;
          --bad: #f09050; }
}
body { font: 15px/1.45 system-ui, sans-serif; max-width: 960px; margin: 2em auto; padding: 0 1em;
       color: var(--text); background: var(--paper); }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: .6em 0 1.2em;
        font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .2em .8em; text-align: right; }
th:first-child, td:first-child { text-align: left; }
summary h2 { display: inline-block; }
figure { margin: 0 0 .8em; } figcaption span { margin-left: 1em; }
svg.plot { width: 100%; touch-action: pan-y; cursor: grab; }
svg.plot > svg { background: var(--plot); }
svg.plot polyline { fill: none; stroke-width: 1.3; vector-effect: non-scaling-stroke; }
svg.plot text { font: 12px system-ui, sans-serif; fill: var(--text); }
.good { color: var(--good); } .bad { color: var(--bad); }
@media (max-width: 600px) {
  svg.plot text { font-size: 24px; } .mouse { display: none; }
  table.wide, table.wide tbody, table.wide tr { display: block; }
  table.wide tr:first-child { display: none; }
  table.wide td { display: flex; justify-content: space-between; border: 0; padding: .1em 0; }
  table.wide td::before { content: attr(data-head); margin-right: 1em; text-align: left; }
  table.wide td:first-child { font-weight: 600; border-top: 1px solid var(--line); }
  table.wide td:first-child::before { content: none; }
}
"""
PHONE_COLUMNS = 3  # columns that fit beside each other on a phone; of more each cell has a line
REPORTED_PACKAGES = 'numpy', 'scipy', 'clarabel', 'rosbags', 'mcap'


class ReportPage:
    """
    Builds the HTML page of a report; texts are escaped, plots are inserted as they are.

        >>> page = ReportPage('Calibration')
        >>> page.table(['leg', 'offset, mm'], [('leg_1', 0.12)])
        >>> path.write_text(page.html())
    """

    def __init__(self, title: str) -> None:
        """
        Begin with a title.

        Args:
            title: Shown at the top and by the browser's tab.
        """
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
        body = ''.join('<tr>' + ''.join(
            f'<td data-head="{as_html(name)}">{as_html(str(cell))}</td>'
            for name, cell in zip(header, row)) + '</tr>' for row in rows)
        kind = ' class="wide"' if len(header) > PHONE_COLUMNS else ''
        self._parts.append(f'<table{kind}><tr>{head}</tr>{body}</table>')

    def plots(self, plots: Sequence[str]) -> None:
        """Add plots, with how they zoom."""
        self._parts.append('<p class="mouse">Wheel: zoom, with Shift along the time only. '
                           'Drag: move. Double click: all.</p>')
        self._parts += plots

    def settings(self, settings: Mapping[str, Any]) -> None:
        """Add a table of settings, and the versions that were used, folded."""
        self._parts.append('<details><summary><h2>Settings and versions</h2></summary>')
        self.table(['setting', 'value'], [
            (name, _words(value)) for name, value in sorted(settings.items())])
        own = [('liedyn_ros', LIEDYN_PACKAGE.__version__), ('Python', platform.python_version())]
        self.table(['package', 'version'], [*own, *(
            (name, found) for name in REPORTED_PACKAGES if (found := _version(name)))])
        self._parts.append('</details>')

    def html(self) -> str:
        """Return the page."""
        return ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
                '<meta name="viewport" content="width=device-width, initial-scale=1">'
                f'<title>{as_html(self._title)}</title><style>{PAGE_STYLE}</style></head><body>'
                + '\n'.join(self._parts) + f'<script>{SCRIPT}</script></body></html>\n')


def _words(value: Any) -> str:
    """Return a setting as people read it: the parts of lists, and 'none' for nothing."""
    if isinstance(value, (list, tuple)):
        return ' '.join(map(_words, value)) or 'none'
    return 'none' if value is None else str(value)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ''


MAX_REASONS = 3  # reasons beside a verdict


class Findings(NamedTuple):
    """
    Findings of a run: verdict, a sentence, reasons for it, and the one next step.

    good: whether the verdict is shown in green, or as bad; None for neither. Reasons beyond
    MAX_REASONS are further findings, as others are.

        >>> Findings('The geometry fits.', True, ['residual 0.03 mm'], 'run liedyn platform check')
    """

    verdict: str
    good: bool | None
    reasons: Sequence[str]
    next_step: str
    others: Sequence[str] = ()

    @property
    def further(self) -> list[str]:
        """Return the findings that are not at the top."""
        return [*self.reasons[MAX_REASONS:], *self.others]

    def print_top(self) -> None:
        """Print verdict, reasons and next step."""
        print(self.verdict)
        for text in self.reasons[:MAX_REASONS]:
            print(f'- {text}')
        print(f'Next: {self.next_step}')

    def print_further(self) -> None:
        """Print the findings that are not at the top."""
        for text in self.further:
            print(f'- {text}')

    def begin(self, page: ReportPage) -> None:
        """Put verdict, reasons and next step at the top of a page."""
        page.text(self.verdict, '' if self.good is None else 'good' if self.good else 'bad')
        page.items(self.reasons[:MAX_REASONS])
        page.text(f'Next: {self.next_step}')

    def end(self, page: ReportPage) -> None:
        """Put the findings that are not at the top on a page, below its tables."""
        page.heading('More findings')
        page.items(self.further or ['none'])
