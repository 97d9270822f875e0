# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Pictures are saved with a PDF and their numbers beside them, in columns of papers."""

import csv

from matplotlib.image import imread
import numpy as np
import pytest

from liedyn_ros.common.resources import config_file
from liedyn_ros.pictures import (
    COLUMN_WIDTH_MM, draw_platform, fill, new_figure, PAGE, save, share_scale)
from liedyn_ros.pictures.style import ink
from liedyn_ros.stewart import load_geometry

INCH = 25.4  # mm


def rows_of(path):
    with path.open(encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file))


def test_a_picture_has_a_pdf_and_its_numbers_beside_it(tmp_path):
    figure = new_figure(40.0)
    axes = figure.subplots()
    axes.plot([0.0, 1.0], [2.0, 3.5], label='truth')
    axes.plot([4.0], [5.0])
    axes.axhline(9.0)
    axes.set_ylabel('error,\nmm')
    save(figure, tmp_path / 'a.b.png')
    assert sorted(path.name for path in tmp_path.iterdir()) == ['a.b.csv', 'a.b.pdf', 'a.b.png']
    assert [list(row.values()) for row in rows_of(tmp_path / 'a.b.csv')] == [
        ['1 error, mm', 'truth', '0', '2', None], ['1 error, mm', 'truth', '1', '3.5', None],
        ['1 error, mm', 'series 2', '4', '5', None]]
    assert (tmp_path / 'a.b.pdf').read_bytes().startswith(b'%PDF')


@pytest.mark.parametrize('width', [COLUMN_WIDTH_MM, PAGE])
def test_widths_are_those_of_columns_in_print(tmp_path, width):
    figure = new_figure(40.0, width)
    figure.subplots().plot([0.0, 1.0])
    save(figure, tmp_path / 'a.png')
    pixels = imread(tmp_path / 'a.png').shape
    assert pixels[1] / 300.0 * INCH == pytest.approx(width, abs=0.1)
    assert pixels[0] / 300.0 * INCH == pytest.approx(40.0, abs=0.1)


def test_clouds_bars_and_lines_in_space_keep_their_numbers(tmp_path):
    figure = new_figure(80.0)
    space = figure.add_subplot(2, 1, 1, projection='3d')
    space.plot([0.0, 1.0], [2.0, 3.0], [4.0, 5.0], label='path')
    flat = figure.add_subplot(2, 1, 2)
    flat.bar([1.0, 2.0], [7.0, 8.0], label='count')
    flat.barh([5.0, 6.0], [0.5, -0.5], label='lies')
    flat.scatter([3.0], [0.25], label='cloud')
    save(figure, tmp_path / 'a.png')
    found = {(row['series'], row['x'], row['y'], row['z']) for row in rows_of(tmp_path / 'a.csv')}
    assert found == {('path', '0', '2', '4'), ('path', '1', '3', '5'), ('count', '1', '7', None),
                     ('count', '2', '8', None), ('lies', '0.5', '5', None),
                     ('lies', '-0.5', '6', None), ('cloud', '3', '0.25', None)}


def test_a_map_keeps_its_cells(tmp_path):
    figure, values = new_figure(40.0), np.arange(6.0).reshape(2, 3)
    figure.subplots().pcolormesh([0.0, 1.0, 2.0], [0.0, 1.0], values, shading='nearest')
    save(figure, tmp_path / 'a.png')
    kept = np.load(tmp_path / 'a.npz')
    assert kept['panel_1_values'] == pytest.approx(values)
    assert kept['panel_1_x'] == pytest.approx([-0.5, 0.5, 1.5, 2.5])
    assert kept['panel_1_y'] == pytest.approx([-0.5, 0.5, 1.5])


@pytest.mark.parametrize(('high', 'numbers'), [
    (60.0, ['5', '10', '20', '50']), (2e4, ['10', '1000'])])
def test_a_logarithmic_axis_has_numbers_that_are_as_large_as_all(tmp_path, high, numbers):
    figure = new_figure(40.0)
    axes = figure.subplots()
    axes.semilogy([0.0, 1.0], [4.0, high])
    axes.set_ylim(4.0, high)
    save(figure, tmp_path / 'a.png')
    shown = [label.get_text() for label in axes.get_yticklabels()]
    assert set(numbers) <= set(shown)
    assert not any('$' in text for text in shown)  # exponents have 0.7 of the size


def test_a_drawing_in_space_leaves_no_white_margins(tmp_path):
    figure = new_figure(60.0)
    axes = figure.add_subplot(projection='3d')
    axes.plot([0.0, 1.0], [2.0, 3.0], [4.0, 5.0])
    axes.set(xlabel='x, m', zlabel='z, m')
    before = np.ptp(ink(figure), axis=0)
    axes.set_title('a line')
    fill(axes, above=5.0)
    low, high = ink(figure)
    assert np.all((low >= 0.0) & (high <= 1.0))
    assert max(high - low) > 0.96 > max(before)
    assert figure.get_suptitle() == 'a line'


def test_platforms_in_space_share_a_unit_and_their_numbers_are_in_m(tmp_path):
    geometry = load_geometry(config_file('stewart_servos.yaml'))
    figure, far = new_figure(60.0), geometry.home.copy()
    far[2, 3] += 0.15
    panels = [figure.add_subplot(1, 2, k, projection='3d') for k in (1, 2)]
    draw_platform(panels[0], geometry, geometry.home, '')
    draw_platform(panels[1], geometry, far, '', values=[0.0] * 6)
    share_scale(panels)
    assert len({axes.get_zlabel() for axes in panels}) == 1
    save(figure, tmp_path / 'two.png')
    with (tmp_path / 'two.csv').open(encoding='utf-8', newline='') as file:
        rows = list(csv.DictReader(file))
    assert {row['panel'].split(' ', 1)[1] for row in rows} == {'x, y, z in m'}
    assert max(abs(float(row['z'])) for row in rows) < 0.3
