# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The errors of the package: each message names what was expected and what came."""

from ast import literal_eval
from collections.abc import Iterable
import re
import sys
from types import FrameType
from typing import Any
import warnings

SPACE = '\N{NO-BREAK SPACE}'
MAX_MESSAGE_TEXT = 1000  # characters; an input that a message quotes may have any number

_FORM = re.compile(r'(?:(?P<name>[^\n]+?)(?P<indices>\[[\d, ]+\])?: )?(?:did you mean [^\n]+?\? )?'
                   r'expected (?P<expected>.+?)'
                   r'(?:,? got:?\s(?P<got>.+?))?(?:; .*)?', re.DOTALL)
_NUMBER = re.compile(r'(?<![\w.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)(?!\.?\w)')
_LIST = re.compile(r'[\[(][-+\de., \[\]()]*[\])]')
_TEXT = re.compile(r"'([^'\\]*)'")


class LiedynError(ValueError):
    """
    Any input the package refuses.

    A message that is too long loses its middle, and characters that cannot be seen, which a
    terminal may obey, are spelled as in Python. What it says in words is in attributes, where the
    input has it; each is empty or None elsewhere. names: arguments, joints, bodies or actuators
    that are at fault. expected and got: shapes, names or numbers, SI units. indices: of the first
    wrong entry, or the order. Where a raise gives no attribute, they come from its message:
    numbers and lists, or its words.

    >>> try:
    ...     robot.inverse(q[:3], v, a)
    ... except ld.LiedynError as error:
    ...     error.names, error.expected, error.got
    (('q',), (6,), (3,))
    """

    def __init__(self, message: object = '', *, names: Iterable[str] = (), expected: Any = None,
                 got: Any = None, indices: Iterable[int] = ()) -> None:
        """
        Take a message, what was expected and what came, and its parts.

        Args:
            message: the sentence that is shown.
            names: arguments, joints, bodies or actuators at fault.
            expected: a shape, a name or a number, SI units.
            got: the value that came, in the same form.
            indices: of the first wrong entry, or the order.
        """
        super().__init__(bounded(str(message)))
        self.names, self.indices = tuple(names), tuple(map(int, indices))
        self.expected, self.got = expected, got
        if not self.names and not self.indices and expected is None and got is None:
            self._read(str(self))

    def _read(self, message: str) -> None:
        """Take the attributes from a message 'name[index]: expected this, got that; advice'."""
        found = _FORM.fullmatch(message)
        if found is None:
            return
        name, indices = found['name'], found['indices']
        self.names = () if name is None else (name.rsplit(': ', 1)[-1],)
        self.indices = () if indices is None else tuple(map(int, indices[1:-1].split(',')))
        self.expected, self.got = _value(found['expected']), _value(found['got'])


def _value(text: str | None) -> Any:
    """Return the name that a text is, its only list of numbers or number, or the text."""
    if text is None:
        return None
    whole = _TEXT.fullmatch(text)
    if whole is not None:
        return whole[1]
    among = _LIST.search(text)
    if among is not None and not _NUMBER.search(text[:among.start()] + text[among.end():]):
        try:
            return literal_eval(among[0])
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            return text
    numbers = _NUMBER.findall(text)
    if len(numbers) != 1:
        return text
    return int(numbers[0]) if numbers[0].lstrip('+-').isdecimal() else float(numbers[0])


def bounded(text: str) -> str:
    """
    Return a text as a message shows it: all is seen, but for the middle of a long one.

    Args:
        text: of any length.

    Returns:
        the text.

    >>> len(bounded('x' * 5000)) < 1100
    True
    """
    half = MAX_MESSAGE_TEXT // 2
    text = text if len(text) <= MAX_MESSAGE_TEXT else f'{text[:half]} ... {text[-half:]}'
    return '\n'.join(map(spelled, text.split('\n')))


def spelled(text: str) -> str:
    r"""
    Return a text in one line whose characters can be seen: others are spelled as in Python.

    Args:
        text: of any characters.

    Returns:
        the text.

    >>> spelled('a\x1b[2J')
    'a\\x1b[2J'
    """
    return text if text.isprintable() else ''.join(
        each if each.isprintable() or each == SPACE else each.encode('unicode_escape').decode()
        for each in text)


class ShapeError(LiedynError):
    """
    An array of the wrong shape or a list of the wrong length.

    >>> robot.inverse(q[:3], v, a)
    Traceback (most recent call last):
    ShapeError: q: expected shape (6,), got (3,)
    """


class NotFiniteError(LiedynError):
    """
    A NaN or an infinity where a number is needed.

    >>> robot.inverse(q, np.nan * v, a)
    Traceback (most recent call last):
    NotFiniteError: v[0]: expected a finite number, got nan
    """


class NotInGroupError(LiedynError):
    """
    A matrix or quaternion that is not a rotation or pose.

    >>> ld.SO3(2.0 * np.eye(3))
    Traceback (most recent call last):
    NotInGroupError: matrix: expected |R^T R - 1| <= 1e-06, got 3
    """


class NameSetError(LiedynError):
    """
    Names that are unknown, missing or given twice.

    >>> ld.Names(model).prescribed(['knee'])
    Traceback (most recent call last):
    NameSetError: prescribed: expected one of ['shoulder_pan', ..., 'wrist_3'], got 'knee'
    """


class GeometryError(LiedynError):
    """
    A platform geometry that cannot be built or is not described.

    >>> from dataclasses import replace
    >>> ld.stewart.StewartDynamics(replace(geometry, masses=None))
    Traceback (most recent call last):
    GeometryError: table_1: expected masses, got none
    """


class LimitError(LiedynError):
    """
    A value outside its allowed range.

    >>> robot.inverse.time_derivatives(q, v, np.zeros((32, 6)))
    Traceback (most recent call last):
    LimitError: a: expected 31 rows at most, up to order 30, got 32
    """


class StampError(LiedynError):
    """
    An invalid or out-of-order time stamp.

    >>> tracker = ld.stewart.MonitoredTracker(geometry, home)
    >>> _ = tracker.track(1, leg_lengths(geometry, home))
    >>> tracker.track(0, leg_lengths(geometry, home))
    Traceback (most recent call last):
    StampError: stamp: expected a time after 1 ns, got 0
    """


class InertiaError(LiedynError):
    """
    Mass properties that no rigid body has.

    >>> ld.SpatialInertia(-1.0, [0.0, 0.0, 0.0], np.eye(3))
    Traceback (most recent call last):
    InertiaError: mass: expected more than 0 kg, got -1.0
    """


class ModelError(LiedynError):
    """
    A robot model that cannot be built, or a name that is not in it.

    >>> robot.frames.pose(q, 'gripper')
    Traceback (most recent call last):
    ModelError: frame: expected one of ['base', 'shoulder', ..., 'tool'], got 'gripper'
    """


class DescriptionError(ModelError):
    """
    A file or text that does not describe a model or platform, or that has unknown parts.

    >>> ld.load('<robot name="arm"/>')
    Traceback (most recent call last):
    DescriptionError: URDF text: robot: expected at least one element link, got none
    """


class DescriptionWarning(UserWarning):
    """
    A questionable part of a description, used as it is or corrected.

    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter('error', DescriptionWarning)  # as strict, of doubts too
    ...     robot = ld.load(config_file('arm.urdf'))
    """


class QuaternionWarning(UserWarning):
    """
    Quaternions whose norm is 1 only as far as few digits go; they are scaled to 1.

    >>> flying = ld.load(config_file('arm.urdf'), floating=True)
    >>> off, rest = flying.model.neutral() * (1.0 + 1e-5), np.zeros(12)
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter('always')
    ...     _ = flying.inverse(off, rest, rest)
    >>> seen[0].category.__name__
    'QuaternionWarning'
    """


class ProjectionWarning(UserWarning):
    """
    A configuration so far off the constraints that another one on them may be nearer.

    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter('always')
    ...     _ = ld.dynamics.constrained.project(linkage, closed + 1.5, rest)
    >>> [each.category.__name__ for each in seen]
    ['ProjectionWarning']
    """


class SingularityWarning(UserWarning):
    """
    A simulated motion through a singular configuration, where loops can go on in several ways.

    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter('error', SingularityWarning)  # none is passed
    ...     motion = ld.simulate(linkage, closed, rest, rest, 1e-3, 10)
    """


class OpenTreeWarning(UserWarning):
    """
    A quantity of the open tree, asked of a machine with closed loops: no loop is counted in it.

    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter('always')
    ...     _ = ld.ConstrainedDynamics(linkage.model).bias(closed, rest)
    >>> [each.category.__name__ for each in seen]
    ['OpenTreeWarning']
    """


class SingularError(LiedynError):
    """
    A joint with a given force that moves no inertia.

    >>> builder = ld.ModelBuilder('rod without mass')
    >>> builder.add_body('rod', None)
    >>> builder.add_joint('pivot', 'revolute', None, 'rod', axis=[0.0, 1.0, 0.0])
    >>> ld.Dynamics(builder.build()).forward([0.0], [0.0], [1.0])
    Traceback (most recent call last):
    SingularError: pivot: expected an inertia of its own, since its force is given
    """


class ConvergenceError(LiedynError):
    """
    An iteration that did not converge.

    >>> far = ld.pose([10.0, 0.0, 0.0])
    >>> ld.assemble(robot, held={'tool': far})
    Traceback (most recent call last):
    ConvergenceError: arm: expected an assembly, got none in 50 starts; nearest one leaves open ...
    """


class BudgetError(LiedynError):
    """
    A computation that takes more work than it may, or whose result nobody waits for.

    >>> from liedyn_ros.retiming import RetimingBudget
    >>> RetimingBudget(evaluations=0).spend(0.0)
    Traceback (most recent call last):
    BudgetError: expected at most 0 evaluations of motion, got more
    """


def called_by_user() -> bool:
    """
    Return whether the function that asks was called from outside the package.

    Returns:
        whether it was.

    >>> called_by_user()
    True
    """
    caller = sys._getframe(1).f_back  # none where C calls
    return caller is None or not _is_ours(caller)


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get('__name__', '')).startswith('liedyn_ros.')


def warn(text: str, kind: type[Warning]) -> None:
    """
    Warn at the line outside the package whose call led here.

    Args:
        text: of the warning.
        kind: such as DescriptionWarning.

    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter('ignore')
    ...     warn('joint elbow: no limits', DescriptionWarning)
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level)
