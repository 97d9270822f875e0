# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Checks of input; each returns the value in the form that the core uses."""

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
import math
import reprlib
import shlex
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liedyn_ros.common.errors import (
    DescriptionError, LiedynError, LimitError, NameSetError, NotFiniteError, ShapeError)

Array = NDArray[np.float64]
Refusal = TypeVar('Refusal', bound=LiedynError)
Kind = TypeVar('Kind')

_FLOAT64 = np.dtype(np.float64)
_REAL = 'biuf'  # kinds of dtypes: truth values, integers, floating point numbers

SCALAR_LOOP_SIZE = 64  # numbers that are looked at sooner as a list than as an array
MAX_NAME = 100  # characters of a name to which the nearest is searched
MAX_NEAREST = 3  # unknown names to which the nearest is searched
MAX_SURPLUS = 1000  # names beyond the wanted ones, of which the faults are still searched
_SHORT = reprlib.Repr()
_SHORT.maxlist, _SHORT.maxstring = 50, 100  # names in a message, characters of a name


def as_numbers(name: str, value: ArrayLike) -> Array:
    """
    Return real numbers as float64 of any shape, contiguous; NaN and infinities pass.

    Raises LiedynError for anything else, such as texts, complex numbers, masked arrays, and True
    or False.
    """
    if type(value) is np.ndarray and value.dtype is _FLOAT64:
        return np.asarray(value, order='C')
    if isinstance(value, bool | np.bool_):
        raise _not_real(name, value)
    require_no_mask(name, value)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:  # rows of different lengths
        raise _not_real(name, value) from error
    if array.dtype.kind not in _REAL:
        raise _not_real(name, value)
    return np.asarray(array, dtype=np.float64, order='C')


def output(out: Array | None, shape: tuple[int, ...]) -> Array:
    """Return the array to write into, new where none is given, or raise ShapeError."""
    if out is None:
        return np.empty(shape)
    if (type(out) is not np.ndarray or out.dtype is not _FLOAT64 or out.shape != shape
            or not out.flags.carray):
        raise ShapeError('out: expected a contiguous, writable array of float64 of shape '
                         f'{shape}, got {_described(out)}', names=('out',), expected=shape,
                         got=getattr(out, 'shape', None))
    return out


def require_own_memory(out: Array | None, **inputs: Array) -> None:
    """Raise ShapeError if out shares memory with an input."""
    for name, value in inputs.items():
        if out is not None and np.may_share_memory(out, value):
            raise ShapeError(
                f'out: expected its own memory, got an array that shares it with {name}',
                names=('out', name))


def require_no_mask(name: str, value: Any) -> None:
    """Raise LiedynError for a masked array, or rows of them: numpy would drop their masks."""
    if type(value) is np.ndarray:
        return
    rows = value if isinstance(value, list | tuple) else (value,)
    if any(isinstance(row, np.ma.MaskedArray) for row in rows):
        raise LiedynError(f'{name}: expected an array without a mask, got a masked one',
                          names=(name,))


def as_array(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """
    Return finite float64 numbers of one shape, contiguous; a -1 in the shape fits any length.

    Raises ShapeError, NotFiniteError, or LiedynError when the value is not real numbers at all.
    """
    array = as_numbers(name, value)
    if array.shape != shape and (array.ndim != len(shape) or any(
            want not in (-1, got) for want, got in zip(shape, array.shape))):
        raise wrong_shape(name, shape, array)
    return require_finite(name, array)


def as_triple(name: str, value: ArrayLike) -> tuple[float, float, float]:
    """Return three finite numbers as floats, or raise what as_array does."""
    if isinstance(value, (list, tuple)) and len(value) == 3:
        x, y, z = value
        if type(x) is type(y) is type(z) is float and math.isfinite(x + y + z):
            return x, y, z
    x, y, z = as_array(name, value, (3,)).tolist()
    return x, y, z


def as_trailing(name: str, value: ArrayLike, core: tuple[int, ...]) -> Array:
    """
    Return finite float64 numbers whose last axes have the core shape, contiguous.

    Raises ShapeError, NotFiniteError, or LiedynError when the value is not real numbers at all.
    """
    array = as_numbers(name, value)
    if array.shape[max(array.ndim - len(core), 0):] != core:
        raise ShapeError(f'{name}: expected shape (..., {str(core)[1:-1].rstrip(",")}), '
                         f'got {array.shape}', names=(name,), expected=core, got=array.shape)
    return require_finite(name, array)


def as_number(name: str, value: ArrayLike | float) -> float:
    """Return one finite number, or raise ShapeError, NotFiniteError or LiedynError."""
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    return float(as_array(name, value, ()))


def as_positive(name: str, value: ArrayLike) -> float:
    """Return one finite number above zero, or raise what as_number does, or LimitError."""
    number = as_number(name, value)
    if number <= 0.0:
        raise LimitError(f'{name}: expected a number above 0, got {number}',
                         names=(name,), expected=0.0, got=number)
    return number


def as_seed(name: str, value: Any) -> int:
    """Return an integer of 0 or more, Python's or numpy's; else raise LimitError."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise LimitError(f'{name}: expected an integer of 0 or more, got {value!r}',
                         names=(name,), expected=0, got=value)
    return int(value)


def require_finite(name: str, array: Array) -> Array:
    """Return the array, or raise NotFiniteError naming the first bad entry."""
    # A sum is finite where all numbers are; one that is not may be of numbers too large for it.
    if array.size <= SCALAR_LOOP_SIZE and math.isfinite(sum(array.ravel().tolist())):
        return array
    finite = np.isfinite(array)
    if not finite.all():
        where = tuple(int(i) for i in np.argwhere(~finite)[0])
        index = f'[{", ".join(map(str, where))}]' if where else ''
        raise NotFiniteError(f'{name}{index}: expected a finite number, got {array[where]}',
                             names=(name,), got=float(array[where]), indices=where)
    return array


def order_of(name: str, wanted: Sequence[str], given: Sequence[str]) -> list[int]:
    """
    Return for each wanted name its place in the given names, which may come in any order.

    Raises NameSetError naming the unknown, missing and repeated names.
    """
    places = {n: i for i, n in enumerate(given)}
    if len(places) == len(given) == len(wanted) and all(n in places for n in wanted):
        return [places[n] for n in wanted]
    if len(given) > len(wanted) + MAX_SURPLUS:
        raise NameSetError(f'{name}: expected {len(wanted)} names, got {len(given)}',
                           names=(name,), expected=tuple(wanted), got=len(given))
    known = set(wanted)
    missing = [n for n in wanted if n not in places]
    unknown = [n for n in given if n not in known]
    repeated = sorted(n for n, count in Counter(given).items() if count > 1)
    faults = ', '.join(f'{label} {listed(names)}' for label, names in (
        ('missing', missing), ('unknown', unknown), ('repeated', repeated)) if names)
    pairs = [(n, near) for n in unknown[:MAX_NEAREST] if (near := _nearest(missing, n))]
    hint = ''.join(f'; the nearest to {n!r} is {near!r}' for n, near in pairs)
    raise NameSetError(
        f'{name}: expected each of {listed(wanted)} once, got {listed(given)}: {faults}{hint}',
        names=(*missing, *unknown, *repeated), expected=tuple(wanted), got=tuple(given))


def unknown_name(error: type[Refusal], what: str, known: Iterable[str], given: Any,
                 kind: str = 'one') -> Refusal:
    """Return the error for a name that is not one of the known: the nearest, and all."""
    names = list(known)
    near = _nearest(names, given)
    hint = '' if near is None else f'did you mean {near!r}? '
    return error(f'{what}: {hint}expected {kind} of {listed(names)}, got {_SHORT.repr(given)}',
                 names=(str(given),), expected=tuple(names), got=given)


def require_known(error: type[LiedynError], what: str, known: Iterable[str],
                  given: Iterable[Any], kind: str = 'one') -> None:
    """Raise the error of unknown_name for the first given name that is not known."""
    names = list(known)
    for name in given:
        if name not in names:
            raise unknown_name(error, what, names, name, kind)


def require_kind(name: str, value: Any, kind: type[Kind], source: str) -> Kind:
    """Return an object of a class, or raise LiedynError that says what returns one."""
    if not isinstance(value, kind):
        raise LiedynError(f'{name}: expected a {kind.__name__}, {source}, '
                          f'got {_SHORT.repr(value)}', names=(name,), expected=kind.__name__,
                          got=value)
    return value


def wrong_shape(name: str, shape: tuple[int, ...], array: NDArray[Any]) -> ShapeError:
    """Return the error for an array of another shape than the one that is expected."""
    hint = ', a row for each of model.bodies' if name == 'external' else ''
    return ShapeError(f'{name}: expected shape {shape}{hint}, got {array.shape}',
                      names=(name,), expected=shape, got=array.shape)


def _nearest(known: Sequence[str], given: Any) -> str | None:
    """Return the known name that is nearest to another, if any is near: first in other case."""
    if not isinstance(given, str) or len(given) >= MAX_NAME or len(known) > MAX_SURPLUS:
        return None
    same = [each for each in known if each.lower() == given.lower()]
    return next(iter(same or get_close_matches(given, known, 1)), None)


def listed(names: Sequence[str]) -> str:
    """Return names as a message shows them, shortened: their number, and a long name."""
    return _SHORT.repr(list(names))


def _not_real(name: str, value: Any) -> LiedynError:
    return LiedynError(f'{name}: expected an array of real numbers, got {value!r}',
                       names=(name,), got=value)


def _described(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f'{value.dtype} of shape {value.shape}, writable {value.flags.writeable}'
    return repr(value)


def named_values(parameter: str, text: str) -> dict[str, str]:
    """Return the values of a text such as 'prefix:=left_ reach:=3'; a value may be quoted."""
    try:
        parts = [part.partition(':=') for part in shlex.split(text)]
    except ValueError as error:  # a quotation mark without its partner
        raise DescriptionError(f'{parameter}: expected name:=value, got {error}') from error
    for name, separator, _ in parts:
        if not (name and separator):
            raise DescriptionError(f'{parameter}: expected name:=value, got {name!r}')
    return {name: value for name, _, value in parts}
