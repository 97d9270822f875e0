# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Every pose of a Stewart platform that leg lengths allow.

Forty paths lead from a random system to all complex solutions. A check shows that none is missing.
Every path ends in a different solution or at infinity, and the number at infinity is the same for
all lengths. Conjugates come in pairs. Of more legs than six, poses of six are kept that the others
fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import functools
import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common import checks
from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import GeometryError
from liedyn_ros.stewart.assembly import study_coordinates as starts
from liedyn_ros.stewart.assembly.kernels import homotopy
from liedyn_ros.stewart.assembly.searched_modes import describe_search, search_poses
from liedyn_ros.stewart.assembly.stage_modes import MODES_DEGREE, stage_modes, stage_pairs
from liedyn_ros.stewart.assembly.study_coordinates import (
    Complex, leg_system, SOLUTIONS, StartSystem, to_pose)
from liedyn_ros.stewart.platform.architecture import architecture, free_motion, is_continuum
from liedyn_ros.stewart.platform.description.geometry import StewartGeometry
from liedyn_ros.stewart.platform.kinematics import (
    driven_platform, fixed_drive_transmissions, length_jacobian)
from liedyn_ros.stewart.solver.pose_solver import PoseSolver, Solution

PATH_ATTEMPTS = 3  # each follows the paths ten times closer, with another gamma
REFERENCES = 2  # searches at random lengths, the second where the first has a defect
IMAGINARY_SHARE = 1e-4  # parts of |x| that are imaginary where Newton's method has no limit
AT_INFINITY = 1e-6  # |e| of |x| = 1: a million times as far as the legs reach
SINGULAR_END = 1e-3  # the same of paths that end nowhere: real poses have |e| near 1
ISOLATED_VALUE = 1e-6  # smallest singular value above which a pose is isolated
LENGTH_RESIDUAL = 1e-9  # of a leg length, in characteristic lengths
MAX_LENGTH_DEVIATIONS = 6.0  # deviations of a redundant length that fits a pose
EQUAL_LENGTHS = 1e-12  # relative difference of equal numbers


class AssemblyMode(NamedTuple):
    """
    One pose.

    pose: (4, 4), platform in base, m. residual: largest leg length error, m. height: of the
    platform joints' centre above that of the base joints, along the base frame's z axis, m.
    determinant_sign: of dL/d(body twist), 1 or -1; between poses of different signs every path
    crosses a singular pose; 1 of more legs. smallest_singular_value: of the same, with the
    characteristic length as the unit of length: the distance from singular poses. L: of the rods,
    where there are some. dead_centres: of each leg the cosine between its rod and the way of its
    driven end, 1 of struts. It is negative behind the dead centre.

    >>> mode = AssemblyModeSolver(geometry).solve(leg_lengths(geometry, home)).modes[0]
    >>> mode.residual < 1e-9, mode.pose.shape
    (True, (4, 4))
    """

    pose: Array
    residual: float
    height: float
    determinant_sign: int
    smallest_singular_value: float
    dead_centres: tuple[float, ...] = (1.0,) * 6

    @property
    def behind(self) -> tuple[int, ...]:
        """Return the legs, as indices, whose drives are behind their dead centre."""
        return tuple(k for k, cosine in enumerate(self.dead_centres) if cosine < 0.0)

    @property
    def of_machine(self) -> bool:
        """Return whether inverse kinematics gives the values asked: no leg is behind."""
        return not self.behind

    @property
    def above(self) -> bool:
        """Return whether the platform is above the base."""
        return self.height > 0.0


class MachineModes(NamedTuple):
    """
    Poses of six lengths, (4, 4), m, that keep the machine's limits, and whether these are all.

    same: how far two solves of one pose may be apart, m.
    """

    poses: tuple[Array, ...]
    complete: bool
    same: float

    def right(self, pose: Array) -> Array | None:
        """Return the only pose there is, where it is another than a pose (4, 4), m."""
        if not self.complete or len(self.poses) != 1 or (
                np.abs(self.poses[0] - pose).max() <= self.same):
            return None
        return self.poses[0]


@dataclass(frozen=True)
class AssemblyModes:
    """
    modes: all real poses, from the highest to the lowest; and how the paths to them ended.

    complex_solutions: real and complex ones, isolated. at_infinity, singular, lost: paths that
    ended at no pose, at a solution that is multiple or one of a continuum, and before their end.
    paths: of which these are the parts. defect: why a pose may be missing, or empty. reason: why
    no pose can have the lengths, where that is seen without following paths, or empty. continua:
    poses that belong to a continuum of them, one of each or more. nearest_complex: the least
    imaginary part of a solution that is no pose, of unit norm; infinite where there is none.

    >>> AssemblyModeSolver(geometry).solve(leg_lengths(geometry, home)).defect
    ''
    """

    modes: tuple[AssemblyMode, ...]
    complex_solutions: int
    at_infinity: int
    singular: int
    lost: int
    defect: str
    paths: int = SOLUTIONS
    reason: str = ''
    continua: tuple[AssemblyMode, ...] = ()
    nearest_complex: float = math.inf

    @property
    def complete(self) -> bool:
        """Return whether these are all the poses there are, with probability one."""
        return not self.defect

    @property
    def of_other_machines(self) -> str:
        """Return a sentence with the poses, from 1 on, behind a dead centre, or an empty text."""
        others = [str(k + 1) for k, mode in enumerate(self.modes) if mode.behind]
        return '' if not others else (
            'behind a dead centre, so of a machine assembled otherwise: poses '
            + ', '.join(others))


class Ends(NamedTuple):
    """Where the paths ended: points (n, 8) that are isolated and singular, numbers of others."""

    isolated: Complex
    singular: Complex
    at_infinity: int
    lost: int


class AssemblyModeSolver:
    """
    Finds all poses of one platform; one for each thread.

    >>> found = AssemblyModeSolver(geometry).solve(leg_lengths(geometry, home))
    >>> len(found.modes), found.complex_solutions
    (16, 28)
    """

    def __init__(self, geometry: StewartGeometry, seed: int = 0) -> None:
        """
        Take a geometry and the seed of random numbers; the first search of each takes longer.

        Args:
            geometry: of the platform; the first search of each takes longer.
            seed: of random numbers.

        Raises:
            LimitError: for a seed that is no integer of 0 or more.
        """
        seed = checks.as_seed('seed', seed)
        self.geometry = geometry
        self._seed = seed
        self._start: StartSystem = starts.start_system(seed)
        self._six = AssemblyModeSolver(_six_of(geometry), seed) if geometry.redundant else None
        self._architecture = architecture(geometry)
        self._solver = PoseSolver(geometry)
        self._scale = geometry.characteristic_length
        base, platform = geometry.base_joints, geometry.platform_joints
        self._centres = base.mean(axis=0), platform.mean(axis=0)
        if not geometry.plain:
            return
        self._joints = base - self._centres[0], platform - self._centres[1]
        self._radii = sum(np.linalg.norm(joints, axis=1).max() for joints in self._joints)

    def solve(self, lengths: ArrayLike, noise: float = 0.0) -> AssemblyModes:
        """
        Return every pose that leg lengths allow.

        A rail or a crank is fixed where its value puts it.

        Args:
            lengths: (n,) in the geometry's order; m, of a crank rad.
            noise: standard deviation of a length in characteristic lengths, by which more than six
                lengths may miss a pose; that of the geometry, where that is greater.

        Returns:
            the poses, from the highest to the lowest.

        Raises:
            GeometryError: where `unsupported` says why.
            LimitError: for a length that is not positive.
            LiedynError: for another shape, or a number that is not finite.

        >>> len(AssemblyModeSolver(geometry).solve(leg_lengths(geometry, home)).modes)
        16
        """
        lengths = self.geometry.require_values(checks.as_array(
            'lengths', lengths, (len(self.geometry.leg_names),)))
        if self._six is not None:
            return self._of_more(self._six, lengths, noise)
        if self.unsupported:
            raise GeometryError(self.unsupported)
        if self.geometry.staged:
            return self._of_stages(lengths)
        if self.geometry.following:
            return self._searched(lengths)
        if not self.geometry.plain:
            rods, rod_lengths = driven_platform(self.geometry, lengths)
            return self._sided(lengths, AssemblyModeSolver(rods, self._seed).solve(rod_lengths))
        if reason := self._why_impossible(lengths):
            return AssemblyModes((), 0, 0, 0, 0, '', 0, reason)
        ends, real, defect = self._search(lengths, judged=True)
        modes, continua = self._modes(lengths, real, ends.singular)
        if not defect and len(modes) != len(real):
            defect = f'{len(real)} solutions are real, {len(modes)} of them meet the lengths'
        if continua:
            defect = ('a continuum of poses has these lengths; at one of them the platform is '
                      f'free: {free_motion(self.geometry, continua[0].pose)}')
        if self._architecture.singular:
            defect = (f'{self._architecture.reason}; lengths have a continuum of poses or, with '
                      f'the least error, none; {defect or "none was found"}')
        return AssemblyModes(
            tuple(sorted(modes, key=lambda mode: -mode.height)), len(ends.isolated),
            ends.at_infinity, len(ends.singular), ends.lost, defect, continua=continua,
            nearest_complex=min((part for part in map(imaginary_part, ends.isolated)
                                 if part > starts.SOLUTION_TOLERANCE), default=math.inf))

    @property
    def unsupported(self) -> str:
        """Return why the platform's assembly modes cannot be searched, or nothing."""
        if not self.geometry.staged or stage_pairs(self.geometry):
            return ''
        return ('assembly modes: expected three stages or none, got stages among '
                f'{list(self.geometry.following)}')

    def _searched(self, values: Array) -> AssemblyModes:
        """Return the poses that a search finds, of a platform on offset joints or wires."""
        rods, lengths = driven_platform(self.geometry, values)
        near = AssemblyModeSolver(rods, self._seed)._near(lengths)
        search = search_poses(self.geometry, values, self._solver, near, self._seed)
        modes = [self._classed(self._solver.solve(values, pose)) for pose in search.poses]
        return self._sided(values, AssemblyModes(
            tuple(sorted(modes, key=lambda mode: -mode.height)), 0, 0, 0, 0,
            describe_search(search, self.geometry, values), 0))

    def _near(self, lengths: Array) -> Array:
        """Return the poses (n, 4, 4), m, nearest to all complex poses of six lengths, m."""
        ends, _, _ = self._search(lengths)
        unit = self._unit(lengths)
        return np.array([self._pose(point, unit) for point in ends.isolated]).reshape(-1, 4, 4)

    def _of_more(self, six: AssemblyModeSolver, lengths: Array, noise: float) -> AssemblyModes:
        """
        Return the poses of more lengths than six: those of six that the others fit.

        They fit where no reading is further off than MAX_LENGTH_DEVIATIONS of the noise.
        """
        rows = [self.geometry.leg_names.index(name) for name in six.geometry.leg_names]
        of_six, found = six.solve(lengths[rows]), list[Solution]()
        noises = np.maximum(
            self.geometry.leg_noise, noise * self._scale / self.geometry.drive_scales)
        most = np.maximum(MAX_LENGTH_DEVIATIONS * noises, LENGTH_RESIDUAL * self._scale)
        for mode in of_six.modes:
            solution = self._solver.solve(lengths, mode.pose)
            if solution.converged and not any(
                    np.abs(solution.pose - other.pose).max() < IMAGINARY_SHARE * self._scale
                    for other in found):
                found.append(solution)
        modes = tuple(self._classed(each) for each in found if each.fit is not None and (
            np.abs(each.fit.residuals) <= most).all())
        reason = '' if modes or not found else (
            'no pose has all the lengths; the nearest one misses them by '
            f'{min(each.residual for each in found):.3g} m')
        return self._sided(lengths, replace(
            of_six, modes=modes, continua=(), reason=of_six.reason or reason))

    def _of_stages(self, values: Array) -> AssemblyModes:
        """Return the poses of a platform on three stages."""
        found, modes = stage_modes(self.geometry, values), []
        for pose in found.poses:
            solution = self._solver.solve(values, pose)
            if solution.residual < LENGTH_RESIDUAL * self._scale:
                modes.append(self._classed(solution))
        defect = found.defect
        if not defect and len(modes) != len(found.poses):
            defect = f'{len(found.poses)} solutions are real, {len(modes)} of them meet the values'
        return AssemblyModes(
            tuple(sorted(modes, key=lambda mode: -mode.height)), found.complex_solutions,
            0, 0, found.lost, defect, MODES_DEGREE)

    def _sided(self, values: Array, modes: AssemblyModes) -> AssemblyModes:
        """Return modes of the rods with the sides of the drives' dead centres."""
        first, continua = (tuple(mode._replace(dead_centres=tuple(fixed_drive_transmissions(
            self.geometry, values, mode.pose).tolist())) for mode in some)
            for some in (modes.modes, modes.continua))
        return replace(modes, modes=first, continua=continua)

    @functools.cached_property
    def _most_at_infinity(self) -> int | None:
        """
        Return how many paths end at infinity, None where no search that says so is complete.

        That does not depend on the lengths (e.e = 0 takes them out), so any may tell.
        """
        rng = np.random.default_rng(self._seed)
        for _ in range(REFERENCES):
            ends, _, defect = self._search(self._radii * rng.uniform(1.0, 2.0, 6))
            if not defect:
                return ends.at_infinity
        return None

    def _why_impossible(self, lengths: Array) -> str:
        """Return a sentence on two legs that differ by more than their joints allow, if any do."""
        first, second = np.triu_indices(6, 1)
        difference = np.abs(lengths[first] - lengths[second])
        most = np.sum([np.linalg.norm(joints[first] - joints[second], axis=1)
                       for joints in self._joints], axis=0)
        excess = difference - most - EQUAL_LENGTHS * (most + lengths.max())
        worst = excess.argmax()
        if excess[worst] <= 0.0:
            return ''
        names = self.geometry.leg_names
        return (f'lengths of {names[first[worst]]} and {names[second[worst]]}: expected to differ '
                f'by {most[worst]:.6g} m at most, as their joints are no further apart, got '
                f'{difference[worst]:.6g} m')

    def _unit(self, lengths: Array) -> float:
        """Return a bound of the distance of the centres, m."""
        return float(lengths.max() + self._radii)

    def _search(self, lengths: Array, judged: bool = False) -> tuple[Ends, Complex, str]:
        """
        Return the ends of the paths, which of them are real, and the doubts about them.

        judged: whether paths that end at infinity are counted against those of other lengths.
        """
        unit = self._unit(lengths)
        base, platform = self._joints
        target = leg_system(base / unit, platform / unit, lengths / unit)
        rng = np.random.default_rng((self._seed, SOLUTIONS))
        for attempt in range(PATH_ATTEMPTS):
            ends = sort_ends(*starts.follow(
                self._start.equations, target, starts.random_gamma(rng),
                starts.PREDICTION_TOLERANCE * 0.1 ** attempt, self._start.solutions))
            partners, paired = conjugates(ends.isolated)
            defect = describe_defect(ends, paired, self._most_at_infinity if (
                judged and ends.at_infinity) else None)
            if not defect:
                break
        return ends, ends.isolated[paired & (partners == np.arange(len(partners)))], defect

    def _modes(self, lengths: Array, real: Complex, singular: Complex
               ) -> tuple[list[AssemblyMode], tuple[AssemblyMode, ...]]:
        """
        Return the real points on SE(3), and of the singular ones what is real, by kind.

        A path that ends in a continuum ends at any of its complex points. A solve from there finds
        a real one, if there is one.
        """
        modes: list[AssemblyMode] = []
        continua: list[AssemblyMode] = []
        multiple = [point for point in singular if self._architecture.singular
                    or imaginary_part(point) < IMAGINARY_SHARE]
        for k, point in enumerate((*real, *multiple)):
            solution = self._solver.solve(lengths, self._pose(point, self._unit(lengths)))
            known = k >= len(real) and any(
                np.abs(solution.pose - mode.pose).max() < IMAGINARY_SHARE * self._scale
                for mode in (*modes, *continua))
            if solution.residual < LENGTH_RESIDUAL * self._scale and not known:
                free = solution.smallest_singular_value < ISOLATED_VALUE and is_continuum(
                    self.geometry, lengths, solution.pose)
                (continua if free else modes).append(self._classed(solution))
        return modes, tuple(continua)

    def _pose(self, point: Complex, unit: float) -> Array:
        """Return the pose nearest to a point, in m and between the geometry's own frames."""
        base, platform = self._centres
        pose = to_pose(turned_to_real(point).real)
        pose[:3, 3] = unit * pose[:3, 3] + base - pose[:3, :3] @ platform
        return pose

    def _classed(self, solution: Solution) -> AssemblyMode:
        base, platform = self._centres
        height = solution.pose[2, :3] @ platform + solution.pose[2, 3] - base[2]
        jacobian = length_jacobian(self.geometry, solution.pose)
        determinant = 1.0 if self.geometry.redundant else np.linalg.det(jacobian)
        return AssemblyMode(solution.pose, solution.residual, float(height),
                            1 if determinant > 0.0 else -1, solution.smallest_singular_value)


def _six_of(geometry: StewartGeometry) -> StewartGeometry:
    """Return the first six legs that are no singular platform; raise GeometryError for none."""
    for names in itertools.combinations(geometry.leg_names, 6):
        six = geometry.six(names)
        if not architecture(six).singular:
            return six
    raise GeometryError(f'{geometry.name}: expected six legs that hold the platform, got none '
                        f'among {list(geometry.leg_names)}')


def sort_ends(points: Complex, times: Array) -> Ends:
    """Return the ends of paths (n, 8) by kind, from the t they came to."""
    e = points[:, :4] / np.linalg.norm(points, axis=1, keepdims=True)
    ended, near_end = times == 0.0, times <= homotopy.END_ZONE
    # Where several paths meet at infinity, as of joints that coincide, none comes close.
    finite = np.abs((e * e).sum(axis=1)) > np.where(ended, AT_INFINITY, SINGULAR_END) ** 2
    return Ends(points[finite & ended], points[finite & near_end & ~ended],
                int((~finite & near_end).sum()), int((~near_end).sum()))


def conjugates(points: Complex) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return for each point (n, 8) the one nearest to its conjugate, and whether it is that."""
    if not len(points):
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=bool)
    apart = starts.separations(points.conj(), points)
    return apart.argmin(axis=1), apart.min(axis=1) < starts.SOLUTION_TOLERANCE


def describe_defect(ends: Ends, paired: NDArray[np.bool_], at_infinity: int | None) -> str:
    """
    Return why solutions may be missing; empty if none can be.

    at_infinity: how many paths end there whatever the lengths, where that is known. Fewer speak
    against nothing: of a platform next to a degenerate one finite ends are taken for infinite.
    """
    if ends.lost:
        return f'{ends.lost} of {SOLUTIONS} paths were lost'
    if len(ends.singular):
        return (f'{len(ends.singular)} of {SOLUTIONS} paths ended at singular solutions, '
                'which may belong to a continuum')
    if at_infinity is not None and ends.at_infinity > at_infinity:
        return (f'{ends.at_infinity} of {SOLUTIONS} paths ended at infinity, {at_infinity} at '
                'lengths taken at random')
    apart = starts.separations(ends.isolated, ends.isolated)
    if (apart < starts.SOLUTION_TOLERANCE).sum() > len(apart):
        return 'two paths ended at one solution'
    if not paired.all():
        return 'the conjugate of a solution is missing'
    return ''


def turned_to_real(point: Complex) -> Complex:
    """Return a point (8,) with the phase that makes it as real as it can be."""
    square = point @ point
    return point / np.sqrt(square / abs(square))


def imaginary_part(point: Complex) -> float:
    """Return the norm of the imaginary part of a point (8,) of unit norm, of any phase."""
    return float(np.linalg.norm(turned_to_real(point).imag))
