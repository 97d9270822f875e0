# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The check of a new platform, over random ones: how often it names each fault.

    python -m benchmarks.stewart.commissioning [platforms [first last]]

prints the rates of docs/results.md and writes them to out/bench; first and last choose
some of the faults. With 1000 platforms it takes about ten minutes.
"""

from collections.abc import Callable
import sys
from typing import Any, NamedTuple

import numpy as np

from benchmarks.record import keep
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.markup import print_table
from liedyn_ros.lie import se3
from liedyn_ros.stewart import leg_lengths, StewartGeometry
from liedyn_ros.stewart.commissioning.check import check, Commissioning

COUNT = 1000  # platforms of each fault
POSES = 5
NOISE = 5e-4  # of readings, radii of the platform
SIZES = np.geomspace(0.005, 2.0, 7)  # m, radii of platforms
MANY_POSES = 45
OFFSETS = 'offset', 'all_offset', 'scale', 'all_scaled'  # a small one may be a scale
Figures = dict[str, Any]


class Case(NamedTuple):
    """A fault: what is built as the file does not say, and the findings that name it."""

    name: str
    named: tuple[str, ...]
    build: Callable[[StewartGeometry, np.random.Generator], StewartGeometry]
    read: Callable[[Array, float, np.random.Generator], Array]
    poses: int = POSES
    legs: tuple[int, ...] = ()  # that are at fault
    part: bool = False  # whether some of the findings name it


def main() -> int:
    """Measure every fault."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    first, last = (int(text) for text in sys.argv[2:4]) if len(sys.argv) > 3 else (0, None)
    rows, figures = [], []
    for number, case in list(enumerate(cases()))[first:last]:
        outcomes = [outcome(case, np.random.default_rng((number, k))) for k in range(count)]
        figure: Figures = {'fault': case.name, 'poses': case.poses, 'platforms': count, **{
            word: outcomes.count(word) for word in ('alone', 'open', 'others', 'else', 'none')}}
        figures.append(figure)
        rows.append([case.name, case.poses, *(
            f'{100.0 * figure[word] / count:.1f} %'
            for word in ('alone', 'open', 'others', 'else', 'none'))])
        print(f'  {case.name}, {case.poses} poses: {rows[-1][2:]}', flush=True)
    print_table(['fault', 'poses', 'named alone', 'as one of some, undecided', 'with others',
                 'something else', 'nothing'], rows)
    print(f'figures in {keep(f"stewart_commissioning_{first}", {"commissioning": figures})}')
    return 0


def cases() -> list[Case]:
    """Return the faults."""
    return geometry_cases() + reading_cases()


def geometry_cases() -> list[Case]:
    """Return nothing wrong, and faults of the geometry."""
    turn, small = _turned(np.radians(30.0)), _turned(np.radians(2.0))
    return [
        Case('nothing', (), _same, _right),
        Case('nothing', (), _same, _right, 1),
        Case('base turned by 30 degrees', ('base_turned',), _on_base(turn), _right),
        Case('base turned by 2 degrees', ('base_turned',), _on_base(small), _right),
        Case('platform turned by 60 degrees', ('platform_turned',),
             _on_platform(_turned(np.pi / 3.0)), _right),
        Case('base radius 10 % large', ('base_radius',),
             _on_base(np.diag([1.1, 1.1, 1.0])), _right),
        Case('platform radius 5 % small', ('platform_radius',),
             _on_platform(np.diag([0.95, 0.95, 1.0])), _right),
        Case('base 10 % low', ('base_height',), _lowered, _right),
        Case('base mirrored', ('base_mirrored',), _on_base(np.diag([1.0, -1.0, 1.0])), _right),
        Case('platform mirrored', ('platform_mirrored',), _on_platform(np.diag([-1.0, 1.0, 1.0])),
             _right),
        Case('both mirrored', ('mirrored',), _mirrored, _right),
        Case('base and platform exchanged', ('exchanged',), _exchanged, _right),
        Case('joints in inches', ('joints_unit',), _inches, _right),
        Case('joints in millimetres', ('joints_unit',), _millimetres, _right),
        Case('a joint off by 2.5 % of the size', ('unexplained', 'offset', 'scale',
             'scale_and_offset', 'offset_or_scale'), _joint_off, _right, legs=(2,), part=True),
        Case('all joints off by 1 %', ('geometry',), _joints_off(0.01), _right),
        Case('all joints off by 1 %', ('geometry',), _joints_off(0.01), _right, MANY_POSES),
        Case('all joints off by 0.3 %', ('geometry',), _joints_off(0.003), _right),
        Case('all joints off by 0.3 %', ('geometry',), _joints_off(0.003), _right, MANY_POSES),
        Case('base turned by 30 degrees, all joints off by 1 %', ('base_turned', 'geometry'),
             _turned_and_off, _right, part=True)]


def reading_cases() -> list[Case]:
    """Return faults of the readings, and a fault of both."""
    turn = _turned(np.radians(30.0))
    return [
        Case('readings in millimetres', ('unit',), _same, lambda x, size, rng: 1e3 * x),
        Case('readings in millimetres', ('unit',), _same, lambda x, size, rng: 1e3 * x, 1),
        Case('two legs swapped', ('order',), _same,
             lambda x, size, rng: x[:, [1, 0, 2, 3, 4, 5]], legs=(0, 1)),
        Case('two legs swapped', ('order',), _same,
             lambda x, size, rng: x[:, [1, 0, 2, 3, 4, 5]], 1, (0, 1)),
        Case('all legs permuted', ('order',), _same,
             lambda x, size, rng: x[:, [3, 5, 0, 1, 2, 4]]),
        Case('a leg with an offset of 2.5 % of the size', ('offset',), _same, _offset,
             legs=(3,)),
        Case('an offset of its own for each leg, about 2.5 %', OFFSETS, _same, _offsets,
             part=True),
        Case('an offset of its own for each leg, about 2.5 %', OFFSETS, _same, _offsets,
             MANY_POSES, part=True),
        Case('a leg with a scale of 1 %', ('scale',), _same,
             lambda x, size, rng: x * [1.0, 1.01, 1.0, 1.0, 1.0, 1.0], legs=(1,)),
        Case('all legs with a scale of 1 %', ('all_scaled',), _same,
             lambda x, size, rng: 1.01 * x),
        Case('a leg backwards', ('sense',), _same, lambda x, size, rng: np.where(
            np.arange(6) == 2, 4.0 * size - x, x), legs=(2,)),
        Case('a dead leg', ('dead',), _same,
             lambda x, size, rng: np.where(np.arange(6) == 4, x[0, 4], x), legs=(4,)),
        Case('base turned by 30 degrees, a leg with an offset of 5 %', ('base_turned', 'offset'),
             _on_base(turn), lambda x, size, rng: x + 0.05 * size * (np.arange(6) == 1),
             legs=(1,))]


def outcome(case: Case, rng: np.random.Generator) -> str:
    """
    Return how a fault of a random platform is named.

    alone: it and nothing else. open: as one of the faults between which the poses do not decide.
    others: with other findings. else: only others. none: nothing.
    """
    size = float(rng.choice(SIZES))
    geometry, home = platform(rng, size)
    found = None
    while found is None:
        twists = rng.uniform(-1.0, 1.0, (case.poses, 6)) * np.array([0.25] * 3 + [0.4 * size] * 3)
        poses = se3.compose(home, se3.exp(twists))
        try:
            values = leg_lengths(case.build(geometry, rng), poses)
        except LiedynError:
            continue
        noise = NOISE * size * rng.normal(size=values.shape)
        found = check(
            file_of(case, geometry), poses, case.read(values + noise, size, rng), home)
    return judged(case, found)


def judged(case: Case, found: Commissioning) -> str:
    """Return how findings name a case."""
    kinds = [finding.kind for finding in found.findings if finding.kind != 'home']
    if not case.named:
        return 'alone' if not kinds else 'else'
    if not kinds:  # of readings that are equal with and without the fault a remark tells
        return 'open' if any('do not distinguish' in text for text in found.remarks) else 'none'
    legs = {leg for finding in found.findings if len(finding.legs) < 6 for leg in finding.legs}
    right = set(kinds) <= set(case.named) and (not case.legs or legs == set(case.legs)) and (
        case.part or set(kinds) == set(case.named))
    undecided = [text for text in found.remarks if 'do not decide' in text]
    if right:
        return 'open' if undecided else 'alone'
    if 'geometry_or_legs' in kinds and OPEN & set(case.named):
        return 'open'
    if case.named == OFFSETS and set(kinds) <= {*OFFSETS, 'offset_or_scale'}:
        return 'open'
    if kinds == ['offset_or_scale'] and legs == set(case.legs) and case.named in (
            ('offset',), ('scale',)):
        return 'open'
    if undecided and any(WORDS.get(kind, kind) in undecided[0] for kind in case.named):
        return 'open'
    return 'others' if set(case.named) <= set(kinds) else 'else'


OPEN = {'geometry', 'offset', 'scale'}  # between which few poses do not decide
# Words by which a remark tells a fault between which and others the poses do not decide.
WORDS = {
    'base_turned': 'the base is turned', 'platform_turned': 'the platform is turned',
    'base_radius': 'the joints of the base lie on a radius',
    'platform_radius': 'the joints of the platform lie on a radius',
    'base_height': "the base's joints are", 'platform_height': "the platform's joints are",
    'base_mirrored': 'the base is mirrored', 'platform_mirrored': 'the platform is mirrored',
    'mirrored': 'axis is mirrored', 'all_scaled': 'all legs read', 'offset': 'too much',
    'scale': 'times its value', 'order': 'legs are swapped'}


def platform(rng: np.random.Generator, size: float) -> tuple[StewartGeometry, Array]:
    """Return a random platform of a radius (m), of pairs of joints on circles, and its home."""
    base, top = (radius * size * _circle(rng, shift) for radius, shift in (
        (rng.uniform(1.2, 2.0), 0.0), (1.0, np.pi / 3.0)))
    lift = size * rng.uniform(1.5, 3.0)
    geometry = StewartGeometry(
        tuple(f'leg_{k + 1}' for k in range(6)), base, top, np.tile((0.0, np.inf), (6, 1)))
    return geometry, se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, lift])


def _circle(rng: np.random.Generator, shift: float) -> Array:
    """Return six joints near a circle of radius 1, in three pairs."""
    half = rng.uniform(0.15, 0.45)
    angles = np.repeat(np.arange(3) * 2.0 * np.pi / 3.0, 2)
    if shift:  # the joints of neighbouring base pairs meet on the platform
        angles += np.tile([-shift + half, shift - half], 3)
    else:
        angles += np.tile([-half, half], 3)
    joints = np.stack((np.cos(angles), np.sin(angles), np.zeros(6)), axis=-1)
    return np.asarray(joints + rng.normal(0.0, 0.03, (6, 3)))


def file_of(case: Case, geometry: StewartGeometry) -> StewartGeometry:
    """Return the platform as its file has it, where that is not the geometry itself."""
    if case.build in (_inches, _millimetres):
        unit = 1.0 / 0.0254 if case.build is _inches else 1e3
        return _with(geometry, unit * geometry.base_joints, unit * geometry.platform_joints)
    return geometry


def _with(geometry: StewartGeometry, base: Array, top: Array) -> StewartGeometry:
    return StewartGeometry(geometry.leg_names, base, top, geometry.length_limits)


def _same(geometry: StewartGeometry, rng: np.random.Generator) -> StewartGeometry:
    return geometry


_right: Callable[[Array, float, np.random.Generator], Array] = lambda x, size, rng: x  # noqa: E731


def _inches(geometry: StewartGeometry, rng: np.random.Generator) -> StewartGeometry:
    return geometry


def _millimetres(geometry: StewartGeometry, rng: np.random.Generator) -> StewartGeometry:
    return geometry


def _turned(angle: float) -> Array:
    return se3.exp([0.0, 0.0, angle, 0.0, 0.0, 0.0])[:3, :3]


def _on_base(matrix: Array) -> Callable[..., StewartGeometry]:
    return lambda geometry, rng: _with(
        geometry, geometry.base_joints @ matrix.T, geometry.platform_joints)


def _on_platform(matrix: Array) -> Callable[..., StewartGeometry]:
    return lambda geometry, rng: _with(
        geometry, geometry.base_joints, geometry.platform_joints @ matrix.T)


def _mirrored(geometry: StewartGeometry, rng: np.random.Generator) -> StewartGeometry:
    flip = np.diag([1.0, -1.0, 1.0])
    return _with(geometry, geometry.base_joints @ flip, geometry.platform_joints @ flip)


def _lowered(geometry: StewartGeometry, rng: np.random.Generator) -> StewartGeometry:
    low = np.array([0.0, 0.0, 0.1 * geometry.characteristic_length])
    return _with(geometry, geometry.base_joints - low, geometry.platform_joints)


def _exchanged(geometry: StewartGeometry, rng: np.random.Generator) -> StewartGeometry:
    return _with(geometry, geometry.platform_joints, geometry.base_joints)


def _joint_off(geometry: StewartGeometry, rng: np.random.Generator) -> StewartGeometry:
    base, away = geometry.base_joints.copy(), rng.normal(size=3)
    base[2] += 0.025 * geometry.characteristic_length * away / np.linalg.norm(away)
    return _with(geometry, base, geometry.platform_joints)


def _joints_off(share: float) -> Callable[..., StewartGeometry]:
    def build(geometry: StewartGeometry, rng: np.random.Generator) -> StewartGeometry:
        off = share * geometry.characteristic_length * rng.normal(size=(2, 6, 3))
        return _with(geometry, geometry.base_joints + off[0], geometry.platform_joints + off[1])
    return build


def _turned_and_off(geometry: StewartGeometry, rng: np.random.Generator) -> StewartGeometry:
    return _joints_off(0.01)(_on_base(_turned(np.radians(30.0)))(geometry, rng), rng)


def _offset(values: Array, size: float, rng: np.random.Generator) -> Array:
    return values + 0.025 * size * (np.arange(6) == 3)


def _offsets(values: Array, size: float, rng: np.random.Generator) -> Array:
    return values + 0.025 * size * rng.normal(size=6)


if __name__ == '__main__':
    sys.exit(main())
