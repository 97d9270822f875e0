# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Bags of ROS 2 without ROS: MCAP and SQLite, whole or damaged, one message after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
import contextlib
import os
from pathlib import Path
import re
import shutil
import struct
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote

import apsw
from rosbags.rosbag2 import Reader, ReaderError
from rosbags.serde import SerdeError
from rosbags.typesys import (
    get_types_from_idl, get_types_from_msg, get_typestore, Stores, TypesysError)
import zstandard

from liedyn_ros.common import yaml_reader
from liedyn_ros.common.checks import listed, unknown_name
from liedyn_ros.common.errors import DescriptionError, NameSetError
from liedyn_ros.common.untrusted_files import open_regular, read_file
from liedyn_ros.recordings.bags.mcap_file import (
    Expander, Loss, MAX_CHUNK_BYTES, MAX_EXPANSION, McapFile, RawMessage)

BAG_SUFFIXES = '.mcap', '.db3'
METADATA, INFORMATION = 'metadata.yaml', 'rosbag2_bagfile_information'
_FAULTS = ReaderError, apsw.Error, OSError, ValueError, TypeError, RecursionError
_UNDECODED = (SerdeError, TypesysError, KeyError, ValueError, IndexError, TypeError, SyntaxError,
              RecursionError, AttributeError, OverflowError, MemoryError, struct.error)
PACKED, BY_MESSAGE = '.zstd', 'message'  # of compressed files, and of compressed messages
MAX_DEFINITION = 2**18  # characters of a definition; that of a camera has some 2**13
# Of SQLite's program: of a file, more a byte; of a look
SQLITE_STEPS, SQLITE_STEPS_PER_CHECK = (1_000_000, 100), 10_000
# Types and fields of a definition become code of rosbags: a name is to be one, and nothing more.
_TYPE, _FIELD = (re.compile(pattern, re.ASCII) for pattern in (
    r'[A-Za-z]\w{0,100}(/[A-Za-z]\w{0,100}){1,3}', r'[A-Za-z]\w{0,100}'))


class Received(NamedTuple):
    """
    A message of a bag: its topic, received_ns, its time of arrival (ns), and the message.

    >>> next(iter(Bag(recorded).messages(['/joint_states']))).topic
    '/joint_states'
    """

    topic: str
    received_ns: int
    message: Any


class Bag:
    """
    A recording of ROS 2: a folder of rosbag2, or one of its files.

    topics maps names to types, such as 'sensor_msgs/msg/JointState', counts to their numbers of
    messages. A folder without metadata.yaml is one whose recorder was killed: its files are read
    in the order of their numbers, also what is in the log beside an SQLite file. losses says which
    files of its list are missing and, once the messages were read, which bytes and messages could
    not be read. Several megabytes are in memory, whatever the size of the bag; compressed files
    are expanded into a folder of the system's, which goes with the object.

    Raises DescriptionError for files of other kinds, for empty and unreadable ones.

    >>> Bag(recorded).topics
    {'/joint_states': 'sensor_msgs/msg/JointState'}
    """

    def __init__(self, path: str | Path) -> None:
        """
        Open the files and list the topics.

        Args:
            path: a folder of rosbag2, or one of its files.

        Raises:
            DescriptionError: for files of other kinds, empty and unreadable ones.
        """
        self.path = Path(path)
        self._store = get_typestore(Stores.LATEST)
        self._defined = set[str]()
        self._missing = _missing(self.path)
        self._undecoded, self._first = 0, ''  # messages, and why the first was
        self._by_message = _compression(self.path) == BY_MESSAGE
        self._place: TemporaryDirectory[str] | None = None
        self._sources = [McapFile(each) if each.suffix == '.mcap' else each
                         for each in map(self._expanded, _files(self.path))]
        self.topics: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        for source in self._sources:
            listing = source.listing() if isinstance(source, McapFile) else _listing(source)
            for topic, (type_name, count) in listing.items():
                self.topics[topic] = type_name
                self.counts[topic] += count
        self._missing = [*_uncounted(self.path, self.counts.total()), *self._missing]
        if not self.counts.total():
            raise DescriptionError(f'{path}: expected messages, got none'
                                   + ''.join(f'; {loss}' for loss in self.losses))

    @property
    def losses(self) -> list[Loss]:
        """Return the losses: messages and parts of files that could not be read."""
        return [*self._missing, *(
            [Loss(self.path.name, f'{self._undecoded} messages lost', self._first)]
            if self._undecoded else []), *(
                loss for each in self._sources if isinstance(each, McapFile)
                for loss in each.losses)]

    def topic(self, name: str | None, type_name: str) -> str:
        """
        Return a topic by its name, with or without the slash, or the only one of a type.

        Args:
            name: of the topic, or None.
            type_name: such as 'sensor_msgs/msg/JointState'.

        Returns:
            the topic.

        Raises:
            NameSetError: for a name that is not there, another type, and none or several.

        >>> Bag(recorded).topic(None, 'sensor_msgs/msg/JointState')
        '/joint_states'
        """
        fitting = [each for each, kind in self.topics.items() if kind == type_name]
        if name is None:
            if len(fitting) != 1:
                raise NameSetError(
                    f'{self.path}: expected one topic of {type_name}, got ' + (
                        f'{listed(fitting)}; name one, such as --topic {fitting[0]}' if fitting
                        else listed(list(self.topics))))
            return fitting[0]
        for each in (name, f'/{name}'):
            if each in self.topics:
                if self.topics[each] != type_name:
                    raise NameSetError(f'{self.path}: expected {type_name} on {each}, got '
                                       f'{self.topics[each]}')
                return each
        raise unknown_name(NameSetError, f'{self.path}: topic', self.topics, name)

    def messages(self, topics: Iterable[str]) -> Iterator[Received]:
        """
        Yield messages of topics by the order of files; losses counts unreadable ones.

        Args:
            topics: their names.

        Yields:
            topic, time of arrival (ns) and message.

        Raises:
            DescriptionError: for a file that is broken from here on.

        >>> next(iter(Bag(recorded).messages(['/joint_states']))).message.name
        ['a', 'b']
        """
        for raw in self.raw_messages(topics):
            message = self.read(raw)
            if message is not None:
                yield Received(raw.topic, raw.received_ns, message)

    def read(self, raw: RawMessage) -> Any:
        """
        Return the message of its bytes.

        Args:
            raw: what raw_messages yields.

        Returns:
            the message; None where the bytes are none, which losses counts.

        >>> bag = Bag(recorded)
        >>> len(bag.read(next(iter(bag.raw_messages(['/joint_states'])))).position)
        2
        """
        try:
            self._define(raw)
            kind = self._store.get_msgdef(raw.type_name)
            decode = {b'\0\0': kind.deserialize_cdr_be, b'\0\1': kind.deserialize_cdr_le}[
                bytes(raw.data[:2])]
            # Bytes beyond the end, as rclpy.serialization leaves after empty arrays, are no fault.
            return decode(raw.data[4:], 0, kind.cls, self._store)[0]
        except _UNDECODED as error:
            self._undecoded += 1
            self._first = self._first or (
                f'expected {raw.type_name} on {raw.topic}, got {error!r} in the first, of '
                f'{raw.received_ns} ns')
            return None

    def _define(self, raw: RawMessage) -> None:
        """Take the definition that the bag has of a type that is not known."""
        name, schema = raw.type_name, raw.schema
        if name in self._defined:
            return
        self._defined.add(name)
        if name in self._store.fielddefs or schema is None or not schema.data:
            return
        self._register(schema.data.decode(), name, is_text=schema.encoding == 'ros2msg')

    def _register(self, text: str, name: str, *, is_text: bool) -> None:
        """Take a definition of a type, and those of its parts."""
        if len(text) > MAX_DEFINITION:
            raise ValueError(f'expected a definition of at most {MAX_DEFINITION} characters')
        if not _TYPE.fullmatch(name):
            raise ValueError(f'expected the name of a type, got {name[:100]!r}')
        types = get_types_from_msg(text, name) if is_text else get_types_from_idl(text)
        for key, (constants, fields) in types.items():
            if not _TYPE.fullmatch(key) or not all(
                    _FIELD.fullmatch(each[0]) for each in (*constants, *fields)):
                raise ValueError(f'{name[:100]}: expected names of types and fields, got others')
        self._store.register({key: value for key, value in types.items()
                              if key not in self._store.fielddefs})

    def raw_messages(self, topics: Iterable[str]) -> Iterator[RawMessage]:
        """
        Yield the messages of topics as bytes of CDR, in the order of the files.

        Args:
            topics: their names.

        Yields:
            topic, type, time of arrival (ns) and bytes.

        Raises:
            DescriptionError: for a file that is broken from here on.

        >>> len(list(Bag(recorded).raw_messages(['/joint_states'])))
        100
        """
        return self._raw({*topics})

    def _expanded(self, path: Path) -> Path:
        """Return a file, or what a compressed one expands to. Raises DescriptionError."""
        if path.suffix != PACKED:
            return path
        if self._place is None:
            self._place = TemporaryDirectory(prefix='liedyn_bag_')
        found = Path(self._place.name) / path.stem
        try:
            Expander(path.stat().st_size).expand_file(path, found)
        except (ValueError, zstandard.ZstdError) as error:
            raise DescriptionError(f'{path}: expected a file of zstd, got {error}') from error
        return found

    def _raw(self, topics: set[str]) -> Iterator[RawMessage]:
        self._undecoded, self._first = 0, ''
        for raw in self._packed(topics):
            if not self._by_message:
                yield raw
                continue
            try:
                data = self._expander.expand(raw.data, 'zstd')
            except (ValueError, zstandard.ZstdError) as error:
                self._undecoded += 1
                self._first = self._first or f'expected a message of zstd, got {error}'
                continue
            yield raw._replace(data=data)

    def _packed(self, topics: set[str]) -> Iterator[RawMessage]:
        """Yield the messages as they are in the files."""
        self._expander = Expander(sum(
            each.stat().st_size for each in _files(self.path)) if self._by_message else 0)
        for source in self._sources:
            if isinstance(source, McapFile):
                yield from (raw for raw in source.messages() if raw.topic in topics)
            else:
                yield from self._by_rosbags(source, topics)

    def _by_rosbags(self, path: Path, topics: set[str]) -> Iterator[RawMessage]:
        with _opened(path) as reader:
            chosen = [each for each in reader.connections if each.topic in topics]
            for each in chosen:
                if each.msgdef.data and each.msgtype not in self._store.fielddefs:
                    with contextlib.suppress(*_UNDECODED):  # its messages are counted
                        self._register(each.msgdef.data, each.msgtype,
                                       is_text=each.msgdef.format.name == 'MSG')
            for connection, stamp, data in reader.messages(chosen) if chosen else ():
                yield RawMessage(connection.topic, connection.msgtype, stamp, bytes(data), None)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Reader]:
    try:
        with contextlib.ExitStack() as stack:
            opened = _with_log(path, stack)
            guard = _guard(sum(each.stat().st_size for each in (
                path.rglob('*') if path.is_dir() else (path,)) if each.is_file()))
            apsw.connection_hooks.append(guard)
            try:
                reader = stack.enter_context(Reader(opened))
            finally:
                apsw.connection_hooks.remove(guard)
            yield reader
    except _FAULTS as error:
        raise DescriptionError(
            f'{path}: expected a bag that can be read, got {error}; of a damaged SQLite file '
            '`sqlite3 bag.db3 .recover` saves what is left') from error


def _listing(path: Path) -> dict[str, tuple[str, int]]:
    with _opened(path) as reader:
        return {each.topic: (each.msgtype, each.msgcount) for each in reader.connections}


def _files(path: Path) -> list[Path]:
    """Return the files of a bag, or its folder where rosbags has to expand them."""
    if not path.exists():
        raise DescriptionError(f'{path}: expected a folder or file of a bag, got nothing there')
    if not path.is_dir():
        if path.suffix not in BAG_SUFFIXES:
            raise DescriptionError(
                f'{path}: expected a folder of rosbag2, or a file {" or ".join(BAG_SUFFIXES)}; '
                + ('decompress it: `unzstd`, or give the folder with its metadata.yaml'
                   if path.suffix == '.zstd' else
                   'a bag of ROS 1 is converted by `rosbags-convert`'))
        return [_not_empty(path)]
    found = sorted((each for each in path.iterdir() if _is_of_bag(each)), key=_numbered)
    if not found:
        raise DescriptionError(f'{path}: expected a folder with files '
                               f'{" or ".join(BAG_SUFFIXES)}, '
                               f'got {listed([each.name for each in path.iterdir()])}')
    return [_not_empty(each) for each in found]


def _missing(path: Path) -> list[Loss]:
    """Return a loss for each file that metadata.yaml lists and that is not in the folder."""
    try:
        files = yaml_reader.read(path / METADATA, METADATA).take(INFORMATION).take(
            'relative_file_paths')
        names = [Path(each.text()).name for each in files.sequence()]
    except DescriptionError:
        return []  # a single file, or one whose recorder was killed
    return [Loss(each, 'the file is lost', f'{METADATA} lists it, the folder lacks it')
            for each in names if not (path / each).exists()]


def _uncounted(path: Path, found: int) -> list[Loss]:
    """Return a loss where metadata.yaml counts more messages than the files have."""
    try:
        counted = yaml_reader.read(path / METADATA, METADATA).take(INFORMATION).take(
            'message_count').integer()
    except DescriptionError:
        return []  # a single file, or one whose recorder was killed
    return [Loss(path.name, f'{counted - found} of {counted} messages lost',
                 f'{METADATA} counts them')] if counted > found else []


def _compression(path: Path) -> str:
    """Return the unit of a bag's compression besides its storage: file, message or ''."""
    try:
        text = read_file(path / METADATA).decode()
    except (DescriptionError, UnicodeDecodeError):
        return ''
    found = re.search(r'^[ \t]*compression_mode:[ \t]*[\'"]?(\w+)', text, re.MULTILINE)
    return '' if found is None else found[1].lower()


def _is_of_bag(path: Path) -> bool:
    return path.suffix in BAG_SUFFIXES or (
        path.suffix == PACKED and Path(path.stem).suffix in BAG_SUFFIXES)


def _guard(size: int) -> Callable[[apsw.Connection], None]:
    """
    Return a guard of connections of SQLite: bounds by the size of a file, no trust in its schema.

    A view may count without end, a module of a table be led astray by its content, a page be its
    own child or be of many messages: a few pages hold as many as one has time for.
    """
    left = SQLITE_STEPS[0] + SQLITE_STEPS[1] * size

    def look() -> bool:
        nonlocal left
        left -= SQLITE_STEPS_PER_CHECK
        return left < 0

    def guard(connection: apsw.Connection) -> None:
        connection.limit(apsw.SQLITE_LIMIT_LENGTH, MAX_CHUNK_BYTES)
        for option, on in ((apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
                           (apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0),
                           (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
                           (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)):
            connection.config(option, on)
        connection.drop_modules(())
        connection.set_progress_handler(look, SQLITE_STEPS_PER_CHECK)
        held, = next(connection.execute('SELECT total(length(data)) FROM messages'))
        if held > MAX_CHUNK_BYTES + MAX_EXPANSION * size:
            raise ValueError(f'expected messages of at most {MAX_EXPANSION} times the size of '
                             f'the file, '
                             f'got {held:g} bytes')

    return guard


def _with_log(path: Path, stack: contextlib.ExitStack) -> Path:
    """
    Return an SQLite file to open, with its log if it has one, as one whose recorder was killed.

    SQLite would leave a file beside them, so they are copied into a folder that goes with the
    stack; but for a file that others have open, or had, which has that file already.
    """
    log = path.with_name(f'{path.name}-wal')
    if path.suffix != '.db3' or not log.is_file() or not log.stat().st_size:
        return path
    if not path.with_name(f'{path.name}-shm').exists():
        place = Path(stack.enter_context(TemporaryDirectory(prefix='liedyn_bag_')))
        for each in (path, log):
            with open_regular(each) as source, (place / each.name).open('wb') as copy:
                shutil.copyfileobj(source, copy)
        path = place / path.name
    return _Logged(path)


class _Logged(type(Path())):  # type: ignore[misc]
    """
    An SQLite file that is opened with its log.

    rosbags opens `file:PATH?immutable=1`, which leaves the log out; what follows a # is not read.
    """

    def __format__(self, _: str) -> str:
        return f'{quote(os.fspath(self))}?mode=ro#'


def _not_empty(path: Path) -> Path:
    try:
        size = path.stat().st_size
        open_regular(path).close()
    except (OSError, DescriptionError) as error:
        raise DescriptionError(f'{path}: expected a file that can be read, got {error}') from error
    if size == 0:
        raise DescriptionError(f'{path}: expected a bag, got an empty file')
    return path


def _numbered(path: Path) -> list[tuple[int, str]]:
    """Return the key that sorts bag_2 before bag_10."""
    return [(int(part), '') if part.isdigit() else (-1, part)
            for part in re.split(r'(\d+)', path.name)]
