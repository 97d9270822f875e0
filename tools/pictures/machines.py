# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Draw some of the gallery's machines with dimensions, and write their tables into its page.

Run python -m tools.pictures.machines. Places are those of the machines' files, assembled as drawn.
"""

import csv
import io
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np
from tools.command_line import names_or_all
from tools.pictures.gallery import gallery
from tools.pictures.labels import Label, place_labels
from tools.pictures.machine_views import Drawing, DRAWINGS, Point

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, statics
from liedyn_ros.lie import se3
from liedyn_ros.pictures import new_figure, PAGE, PALETTE, WRONG_COLOR

ROOT = Path(__file__).parents[2]
IMAGES, PAGE_FILE = ROOT / 'docs' / 'images' / 'machines', ROOT / 'docs' / 'guides' / 'gallery.md'
TABLES = 'pins', 'parts'
BEGIN, END = '<!-- drawings: begin -->\n', '<!-- drawings: end -->'
MM = 1000.0  # in a metre
WIDTHS = {'bar': 2.2, 'barrel': 5.0, 'rod': 1.0}
GREY, RED = '0.35', WRONG_COLOR


def machine(name: str) -> tuple[ConstrainedDynamics, Array]:
    """Return a machine of the gallery and its configuration as drawn."""
    module = gallery()
    dynamics: ConstrainedDynamics = module.machine(name)
    held = dict.fromkeys(module.MACHINES[name][1], 0.0) | DRAWINGS[name].pose
    return dynamics, assemble(dynamics, held=held)


def place(dynamics: ConstrainedDynamics, q: Array, point: Point) -> Array:
    """Return where a point of a body is (3,), mm."""
    body, local, _ = point
    at = np.array(local) if body is None else se3.act(dynamics.frames.pose(q, body), local)
    return MM * np.asarray(at)


def picture(dynamics: ConstrainedDynamics, q: Array, drawing: Drawing) -> Figure:
    """Return the views of a drawing, side by side."""
    places = {name: place(dynamics, q, pin) for name, pin in drawing.pins.items()}
    figure = new_figure(120.0 if len(drawing.views) == 1 else 90.0, PAGE)
    panels = np.array(figure.subplots(1, len(drawing.views), squeeze=False), dtype=object)[0]
    shown = '', drawing.beside
    for axes, view, names in zip(panels, drawing.views, shown):
        draw(axes, drawing, {name: each for name, each in places.items()
                             if not names or name in names.split()}, view)
    return figure


def draw(axes: Axes, drawing: Drawing, places: dict[str, Array], view: str) -> None:
    """Draw the parts, pins and lengths that are seen along an axis."""
    columns = ['xyz'.index(axis) for axis in view]
    flat = {name: each[columns] for name, each in places.items()}
    size = max(np.ptp(np.array(list(flat.values())), axis=0))
    for i, part in enumerate(drawing.parts.values()):
        for line in part.lines:
            names = [name for name in line.split() if name in flat]
            if len(names) > 1 or line in flat:
                axes.plot(*np.array([flat[name] for name in names]).T, zorder=1 + (
                    part.style == 'rod'), color=PALETTE[i % len(PALETTE)] if part.bodies else GREY,
                    linewidth=WIDTHS[part.style], solid_capstyle='round')
    mark(axes, drawing, flat)
    for name, direction in drawing.slides.items():
        reach = 0.08 * size * np.array(direction)[columns]
        axes.plot(*np.array([flat[name] + reach, flat[name] - reach]).T, color=RED, zorder=4,
                  linewidth=1.0, marker='D', markersize=3)
    axes.set_aspect('equal')
    axes.margins(0.15)
    axes.set(xlabel=f'{view[0]} [mm]', ylabel=f'{view[1]} [mm]')
    place_labels(axes, letters(flat, size) + lengths(drawing, places, flat, size))


def mark(axes: Axes, drawing: Drawing, flat: dict[str, Array]) -> None:
    """Draw the pins, squares of the ground and circles of motors."""
    for name, at in flat.items():
        if name in drawing.ground.split():
            axes.plot(*at, 's', markersize=11, markerfacecolor='none', color=GREY,
                      markeredgewidth=0.8)
        if name in drawing.motors.split():
            axes.plot(*at, 'o', markersize=8, markerfacecolor='none', color='black', zorder=5)
        axes.plot(*at, 'o', markersize=4, color='white', markeredgecolor='black', zorder=5)


def letters(flat: dict[str, Array], size: float) -> list[Label]:
    """Return the letters of the pins, one label for pins that cover each other."""
    groups: list[tuple[list[str], Array]] = []
    for name, at in flat.items():
        near = [names for names, first in groups if np.linalg.norm(first - at) < 0.03 * size]
        if near:
            near[0].append(name)
        else:
            groups.append(([name], at))
    return [(', '.join(names), at, {'fontsize': 8, 'fontweight': 'bold', 'zorder': 6})
            for names, at in groups]


def lengths(drawing: Drawing, places: dict[str, Array], flat: dict[str, Array], size: float
            ) -> list[Label]:
    """Return the lengths, mm, that a view shows."""
    pairs = [text.split() for text in drawing.dimensions]
    return [(f'{np.linalg.norm(places[a] - places[b]):.5g}', (flat[a] + flat[b]) / 2.0,
             {'fontsize': 7, 'color': GREY}) for a, b in pairs
            if a in flat and b in flat and np.linalg.norm(flat[a] - flat[b]) > 0.05 * size]


def section(name: str) -> str:
    """Return the section of the page for a machine."""
    drawing = DRAWINGS[name]
    return '\n'.join((
        f'\n### {drawing.title}\n', drawing.text,
        f'\n![{drawing.title}, with pins by letter](../images/machines/{name}.png)\n',
        *(f'[{drawing.title}: {table}](../tables/{name}_{table}.csv)\n' for table in TABLES),
        answer(*machine(name)), ''))


def tables(name: str) -> dict[Path, str]:
    """Return the texts of a machine's tables: its pins, and its parts."""
    drawing, (dynamics, q) = DRAWINGS[name], machine(name)
    axes = [0, 2] if len(drawing.views) == 1 else [0, 1, 2]
    letters = ', '.join('xyz'[i] for i in axes)
    pins = [('pin', f'{letters} [mm]', 'joins')]
    for pin, point in drawing.pins.items():
        pins.append((pin, numbers(place(dynamics, q, point)[axes]), point[2]))
    parts = [('part', 'pins', 'mass [kg]', 'centre of mass [mm]', 'inertia [kg m²]')]
    for part, (bodies, lines, _) in drawing.parts.items():
        for body in bodies:
            inertia = dynamics.model.body(body).inertia
            assert inertia is not None
            centre = place(dynamics, q, (body, inertia.center_of_mass, ''))[axes]
            turn = dynamics.frames.pose(q, body)[:3, :3]
            about = moments(turn @ inertia.inertia_about_com @ turn.T)
            parts.append((part, pins_of(lines), f'{inertia.mass:g}', numbers(centre), about))
    found = {}
    for table, rows in zip(TABLES, (pins, parts)):
        text = io.StringIO(newline='')
        csv.writer(text, lineterminator='\n').writerows(rows)
        found[PAGE_FILE.parents[1] / 'tables' / f'{name}_{table}.csv'] = text.getvalue()
    return found


def moments(tensor: Array) -> str:
    """Return xx, yy, zz of a tensor, and its other elements where they are not zero."""
    least = 1e-3 * np.trace(tensor)
    others = [f'{key} {float(f"{tensor[i, j]:.3g}"):g}'
              for key, i, j in (('xy', 0, 1), ('xz', 0, 2), ('yz', 1, 2))
              if abs(tensor[i, j]) > least]
    return '; '.join((', '.join(digits(x) for x in np.diag(tensor)), *others))


def answer(dynamics: ConstrainedDynamics, q: Array) -> str:
    """Return the sentence of what should come out."""
    model = dynamics.model
    found = statics(dynamics, q).efforts
    efforts = ', '.join(
        f'{joint} {digits(abs(effort))} '
        f'{"N" if model.joint(joint).type_name == "prismatic" else "N m"}'
        for joint, effort in found.items())
    free = dynamics.mobility.degrees_of_freedom
    return (f'What should come out: {free} degree{"s" * (free > 1)} of freedom. At rest as '
            f'drawn: {efforts}.')


def pins_of(lines: tuple[str, ...]) -> str:
    """Return the pins of a part, each once."""
    return ' '.join(dict.fromkeys(' '.join(lines).split()))


def numbers(values: Array) -> str:
    """Return places as they are written on a drawing, to a tenth of a millimetre."""
    return ', '.join(f'{round(float(x), 1) + 0.0:g}' for x in values)


def digits(value: float) -> str:
    """Return three digits of a size, and zero for one of rounding."""
    return f'{float(f"{value if value > 1e-9 else 0.0:.3g}"):g}'


def pages() -> dict[Path, str]:
    """Return the page of the gallery with the drawings of today, and their tables."""
    before, _, rest = PAGE_FILE.read_text(encoding='utf-8').partition(BEGIN)
    text = ''.join(map(section, DRAWINGS))
    return {PAGE_FILE: f'{before}{BEGIN}{text}\n{END}{rest.partition(END)[2]}',
            **{path: table for name in DRAWINGS for path, table in tables(name).items()}}


def main() -> None:
    """Draw all, or the machines that are named, and write the page."""
    names = names_or_all(__doc__, DRAWINGS)
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name in names:
        picture(*machine(name), DRAWINGS[name]).savefig(
            IMAGES / f'{name}.png', dpi=150, bbox_inches='tight', facecolor='white')
    for path, text in pages().items():
        path.write_text(text, encoding='utf-8')


if __name__ == '__main__':
    main()
