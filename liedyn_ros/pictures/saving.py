# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A picture in its files: as asked for, as PDF for papers, and the numbers that it shows."""

from collections.abc import Iterator
import csv
from pathlib import Path

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import (
    LogFormatterMathtext, LogLocator, NullFormatter, StrMethodFormatter)
import numpy as np

from liedyn_ros.common.checks import Array
from liedyn_ros.common.whole_files import whole_file

FEW_DECADES = 2.0  # a logarithmic axis of fewer has numbers between the powers of ten


def save(figure: Figure, path: Path) -> None:
    """
    Write a figure as an image, as PDF, and its numbers as CSV.

    The CSV has a row for each point: panel, series, x, y and, in space, z. Panels are numbered and
    have the label of their vertical axis, those in space their own; series have their label of the
    legend. Lines that only mark a place are left out. The cells of maps go to an NPZ file.

        >>> save(figure, Path('out/residuals.svg'))

    Args:
        figure: Of matplotlib.
        path: Of the image; its suffix is the format. The other files have its stem.
    """
    for axes in figure.axes:
        _number_log_axes(axes)
    _lay_out(figure)
    for suffix, metadata in {path.suffix: None, '.pdf': {'CreationDate': None}}.items():
        with whole_file(path.with_suffix(suffix)) as part:
            figure.savefig(part, format=suffix[1:], metadata=metadata)
    rows = list(_points(figure))
    if rows:
        with (whole_file(path.with_suffix('.csv')) as part,
              part.open('w', encoding='utf-8', newline='') as file):
            writer = csv.writer(file)
            writer.writerow(('panel', 'series', 'x', 'y', 'z'))
            writer.writerows(rows)
    maps = {f'panel_{k + 1}_{name}': values for k, axes in enumerate(figure.axes)
            for name, values in _map(axes).items()}
    if maps:
        with whole_file(path.with_suffix('.npz')) as part, part.open('wb') as file:
            np.savez_compressed(file, allow_pickle=False, **maps)


def _lay_out(figure: Figure) -> None:
    """Place the parts of a figure; savefig would draw it a further time for that in each file."""
    engine, dpi = figure.get_layout_engine(), figure.dpi
    figure.dpi = rcParams['savefig.dpi']  # texts are as wide as whole pixels make them
    if engine is not None:
        engine.execute(figure)
    figure.set_layout_engine(None)
    figure.dpi = dpi


def _number_log_axes(axes: Axes) -> None:
    """
    Write the numbers of logarithmic axes without exponents above the line: those have 4.9 pt.

    One of few decades has numbers at 1, 2 and 5 too: it may have had one.
    """
    for name in 'xy':
        axis, (low, high) = getattr(axes, f'{name}axis'), getattr(axes, f'get_{name}lim')()
        if axis.get_scale() != 'log':
            continue
        few = np.log10(high / low) < FEW_DECADES
        if few:
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        if few or isinstance(axis.get_major_formatter(), LogFormatterMathtext):
            axis.set_major_formatter(StrMethodFormatter('{x:g}'))
            axis.set_minor_formatter(NullFormatter())


def _points(figure: Figure) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the CSV file."""
    for k, axes in enumerate(figure.axes):
        own = str(axes.get_label()) if hasattr(axes, 'get_zlabel') else ''
        title = own or axes.get_ylabel() or axes.get_title()
        panel = ' '.join((str(k + 1), *title.split()))
        for n, (label, points) in enumerate(_series(axes)):
            name = f'series {n + 1}' if label.startswith('_') or not label else label
            for point in points:
                yield (panel, name, *(f'{value:.9g}' for value in point))


def _series(axes: Axes) -> Iterator[tuple[str, Array]]:
    """Yield the label and the points (n, 2 or 3) of each line, bar chart and cloud."""
    for line in axes.lines:
        if line.get_transform() != axes.transData:
            continue
        columns = line.get_data_3d() if hasattr(line, 'get_data_3d') else line.get_data()
        yield str(line.get_label()), np.column_stack(
            [np.asarray(column, dtype=float) for column in columns])
    for bars in axes.containers:
        if isinstance(bars, BarContainer):
            yield str(bars.get_label()), np.array([_end(bar, bars.orientation) for bar in bars])
    for cloud in axes.collections:
        if isinstance(cloud, PathCollection):
            yield str(cloud.get_label()), np.ma.getdata(cloud.get_offsets())


def _end(bar: Rectangle, orientation: str | None) -> tuple[float, float]:
    """Return the middle of the end of a bar that stands, or of one that lies."""
    (x, y), width, height = bar.get_xy(), bar.get_width(), bar.get_height()
    return (x + width, y + 0.5 * height) if orientation == 'horizontal' else (
        x + 0.5 * width, y + height)


def _map(axes: Axes) -> dict[str, Array]:
    """Return the corners and the values of the cells of a map, empty where there is none."""
    for mesh in axes.collections:
        if isinstance(mesh, QuadMesh) and mesh.get_array() is not None:
            corners = np.asarray(mesh.get_coordinates())
            return {'x': corners[0, :, 0], 'y': corners[:, 0, 1],
                    'values': np.ma.filled(np.ma.asarray(mesh.get_array()), np.nan)}
    return {}
