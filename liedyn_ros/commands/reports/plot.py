# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Plots as SVG inside a page, which zoom by wheel and drag without a library."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.markup import as_html

PLOT_WIDTH, PLOT_HEIGHT = 900, 250
LEFT_MARGIN, RIGHT_MARGIN, TOP_MARGIN, BOTTOM_MARGIN = 80, 24, 12, 32
COLOURS = '#888888', '#d55e00', '#0072b2', '#009e73'
POINT_LIMIT = 4000  # points of a line; more are not seen, but make the page heavy
SCRIPT = """
for (const svg of document.querySelectorAll('svg.plot')) {
  const inner = svg.querySelector('svg'), box = inner.viewBox.baseVal;
  const home = [box.x, box.y, box.width, box.height], d = svg.dataset;
  const label = () => {
    const f = (a, b, t) => Number(a) + (Number(b) - Number(a)) * t;
    for (let k = 0; k <= 4; k++) {
      const x = f(d.x0, d.x1, (box.x - home[0] + box.width * k / 4) / home[2]);
      const y = f(d.y1, d.y0, (box.y - home[1] + box.height * k / 4) / home[3]);
      svg.querySelector('.x' + k).textContent = Number(x.toPrecision(3));
      svg.querySelector('.y' + k).textContent = Number(y.toPrecision(3));
    }
  };
  const at = e => {
    const r = inner.getBoundingClientRect();
    return [box.x + box.width * (e.clientX - r.left) / r.width,
            box.y + box.height * (e.clientY - r.top) / r.height];
  };
  svg.addEventListener('wheel', e => {
    e.preventDefault();
    const [x, y] = at(e), s = e.deltaY > 0 ? 1.25 : 0.8;
    box.x = x - (x - box.x) * s; box.width *= s;
    if (!e.shiftKey) { box.y = y - (y - box.y) * s; box.height *= s; }
    label();
  }, {passive: false});
  let from = null;
  svg.addEventListener('pointerdown', e => { from = at(e); svg.setPointerCapture(e.pointerId); });
  svg.addEventListener('pointermove', e => {
    if (!from) return;
    const [x, y] = at(e);
    box.x += from[0] - x; box.y += from[1] - y;
    label();
  });
  svg.addEventListener('pointerup', () => { from = null; });
  svg.addEventListener('dblclick', () => {
    [box.x, box.y, box.width, box.height] = home;
    label();
  });
}
"""


class Line(NamedTuple):
    """
    A line of a plot: its name, and the values (n,) of both axes.

        >>> Line('measured', times, lengths)
    """

    name: str
    x: Array
    y: Array


def plot(title: str, lines: Sequence[Line], x_label: str, y_label: str) -> str:
    """
    Draw lines as an SVG figure with their names above.

    A line of more than POINT_LIMIT points is thinned; its local extremes are kept.

        >>> page.plots([plot('Leg 1', [Line('measured', times, lengths)], 'time, s', 'length, m')])

    Args:
        title: Of the figure.
        lines: At most as many as COLOURS.
        x_label: Quantity and unit of the horizontal axis.
        y_label: Quantity and unit of the vertical axis.

    Returns:
        The figure as HTML with an inline SVG.
    """
    drawn = [Line(each.name, *_thinned(each.x, each.y)) for each in lines]
    x0, x1 = _span([each.x for each in drawn])
    y0, y1 = _span([each.y for each in drawn])
    width, height = (
        PLOT_WIDTH - LEFT_MARGIN - RIGHT_MARGIN, PLOT_HEIGHT - TOP_MARGIN - BOTTOM_MARGIN)
    names = ''.join(f'<span style="color:{colour}">{as_html(line.name)}</span>'
                    for colour, line in zip(COLOURS, drawn))
    parts = [f'<figure><figcaption><b>{as_html(title)}</b>, {as_html(y_label)} over '
             f'{as_html(x_label)}{names}</figcaption>'
             f'<svg class="plot" viewBox="0 0 {PLOT_WIDTH} {PLOT_HEIGHT}" data-x0="{x0:.9g}" '
             f'data-x1="{x1:.9g}" data-y0="{y0:.9g}" data-y1="{y1:.9g}">',
             f'<svg x="{LEFT_MARGIN}" y="{TOP_MARGIN}" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" preserveAspectRatio="none">']
    for colour, line in zip(COLOURS, drawn):
        points = ' '.join(f'{px:.2f},{py:.2f}' for px, py in zip(
            width * (line.x - x0) / (x1 - x0), height * (y1 - line.y) / (y1 - y0)))
        parts.append(f'<polyline points="{points}" stroke="{colour}"/>')
    parts.append('</svg>')
    for k in range(5):
        x, y = LEFT_MARGIN + width * k / 4, TOP_MARGIN + height * k / 4
        parts += [f'<text class="x{k}" x="{x:.0f}" y="{PLOT_HEIGHT - 6}" text-anchor="middle">'
                  f'{x0 + (x1 - x0) * k / 4:.3g}</text>',
                  f'<text class="y{k}" x="{LEFT_MARGIN - 6}" y="{y + 4:.0f}" text-anchor="end">'
                  f'{y1 + (y0 - y1) * k / 4:.3g}</text>']
    return ''.join([*parts, '</svg></figure>'])


def _span(values: Sequence[Array]) -> tuple[float, float]:
    """Return a span of all values, whose four steps are round numbers."""
    some = [each for each in values if len(each)]
    low = min((float(each.min()) for each in some), default=0.0)
    high = max((float(each.max()) for each in some), default=0.0)
    apart = 0.5 * max(abs(low), abs(high), 1e-12) * 1e-6
    if not high - low > apart:
        low, high = low - 1e3 * apart, high + 1e3 * apart
    size = 10.0**math.floor(math.log10((high - low) / 4.0))
    steps = (size * each for each in (
        1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0))
    step = next(each for each in steps if math.floor(low / each) * each + 4.0 * each >= high)
    first = math.floor(low / step) * step
    return first, first + 4.0 * step


def _thinned(x: Array, y: Array) -> tuple[Array, Array]:
    """Return at most POINT_LIMIT points: the least and greatest of each share of a line."""
    shares = POINT_LIMIT // 2
    if len(x) <= POINT_LIMIT:
        return x, y
    size = math.ceil(len(x) / shares)
    chosen = set[int]()
    for begin in range(0, len(x), size):
        part = y[begin:begin + size]
        chosen |= {begin + int(part.argmin()), begin + int(part.argmax())}
    at = np.array(sorted(chosen))
    return x[at], y[at]
