# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Base of the launch files: their common arguments, and nodes that take them."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
import math
from pathlib import Path
import sys
import tempfile

from ament_index_python.packages import get_package_share_path, get_packages_with_prefixes
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from liedyn_ros.common.resources import named_file

CONFIG = get_package_share_path('liedyn_ros') / 'config'
SWITCHES = {'true': 'true', '1': 'true', 'false': 'false', '0': 'false'}  # in any case
OF_ROS2_LAUNCH = 'launch-prefix', 'launch-prefix-filter'


class ChoiceArgument(DeclareLaunchArgument):
    """An argument of few words: what each is read as, and the switches that some need."""

    def __init__(self, name: str, default: str, description: str, known: Mapping[str, str],
                 needs: Mapping[str, str]) -> None:
        """Take the words."""
        self.known, self.needs = known, needs
        self.words = [*dict.fromkeys(filter(None, known.values()))]
        super().__init__(name, default_value=default,
                         description=f'{description} ({", ".join(self.words)})')

    def check(self, context: LaunchContext) -> None:
        """Refuse a word that is unknown or alone, and write one as launch reads it."""
        given = _given(context, self.name)
        word = self.known.get(given.strip().lower())
        if word is None:
            raise ValueError(f'{self.name}: expected {" or ".join(self.words)}, got {given!r}')
        context.launch_configurations[self.name] = word
        needed = self.needs.get(word)
        if needed and SWITCHES.get(_given(context, needed).strip().lower()) == 'false':
            raise ValueError(f'{self.name}: expected {needed}:=true beside {word}, got false')


def switch(name: str, default: str, description: str, **words: str) -> ChoiceArgument:
    """
    Return an argument that is true or false, or True, FALSE, 1, ..., or another word.

    words: the switch that has to be on beside each of those.
    """
    return ChoiceArgument(name, default, description,
                          {**SWITCHES, **{each: each for each in words}}, words)


def choice(name: str, description: str, *words: str) -> ChoiceArgument:
    """Return an argument that sets the parameter of its name, where it is given, to a word."""
    return ChoiceArgument(name, '', f'{description}; empty: the value in params_file',
                          {each: each for each in ('', *words)}, {})


def file(name: str, description: str) -> DeclareLaunchArgument:
    """Return an argument that sets the parameter of its name, where it is given, to a path."""
    return DeclareLaunchArgument(
        name, default_value='', description=f'{description}; empty: the value in params_file')


def description(
        params_file: str, arguments: Sequence[DeclareLaunchArgument],
        entities: Sequence[LaunchDescriptionEntity], *,
        about_params_file: str = 'parameters of the nodes (YAML)',
        about_use_sim_time: str = 'take the time from /clock') -> LaunchDescription:
    """
    Return a launch file's arguments, those of every launch file first, and then its entities.

    params_file: the default, one of the config folder. What is given is checked in between.
    """
    declared = [
        DeclareLaunchArgument(
            'namespace', default_value='', description='namespace of all nodes and topics'),
        DeclareLaunchArgument(
            'params_file', default_value=str(CONFIG / params_file),
            description=about_params_file),
        switch('use_sim_time', 'false', about_use_sim_time),
        switch('autostart', 'true',
               'configure and activate the nodes; otherwise a lifecycle manager does'),
        switch('respawn', 'false',
               'start a node again that ends by itself; with autostart it is active again'),
        DeclareLaunchArgument(
            'respawn_delay', default_value='2.0', description='time before that, s'),
        *arguments]
    names = [argument.name for argument in declared]
    choices = [argument for argument in declared if isinstance(argument, ChoiceArgument)]
    return LaunchDescription([
        *declared, OpaqueFunction(function=_check, args=[names, choices]), *entities])


def node(executable: str, *, name: str = '', when: str = '', unless: str = '',
         clock: str = 'use_sim_time', prefixed: bool = False, files: Sequence[str] = (),
         words: Sequence[str] = (), switches: Sequence[str] = (),
         values: Mapping[str, str] | None = None) -> OpaqueFunction:
    """
    Return a node of this package with the parameters and the namespace of the arguments.

    name: of the node, where it is not the executable's. when: the launch argument that enables the
    node. unless: one that disables it. clock: the parameter that the argument use_sim_time sets.
    prefixed: whether its frames get the namespace as a prefix. files: arguments made by `file`.
    words: by `choice`, or by `switch` with other words. switches: that are parameters, where they
    are on. values: parameters in place of
    params_file. The node is named, as its entries in params_file would otherwise override the
    arguments.
    """
    def start(context: LaunchContext) -> list[Node]:
        if (when and not _is_on(context, when)) or (unless and _is_on(context, unless)):
            return []
        own = {clock: _is_on(context, 'use_sim_time'),
               'autostart': _is_on(context, 'autostart'),
               **({'frame_prefix': _text(_prefix(context))} if prefixed else {}),
               **{name: _text(str(named_file(given))) for name in files
                  if (given := _given(context, name))},
               **{name: _text(given) for name in words
                  if (given := _given(context, name)) not in ('', *SWITCHES.values())},
               **{name: True for name in switches if _is_on(context, name)}}
        others = [_given(context, 'params_file')] if values is None else [dict(values)]
        return [Node(package='liedyn_ros', executable=executable, name=name or executable,
                     output='screen', namespace=_given(context, 'namespace'),
                     respawn=_is_on(context, 'respawn'),
                     respawn_delay=float(_given(context, 'respawn_delay')),
                     parameters=[*others, own])]

    return OpaqueFunction(function=start)


def rviz(config: str, fixed_frame: str = '') -> OpaqueFunction:
    """
    Return RViz with a file of the config folder, in the namespace, if its switch is on.

    fixed_frame: one that gets the namespace as a prefix, instead of that of the file. Where RViz
    is not installed a message is logged instead, and the other nodes run.
    """
    def start(context: LaunchContext) -> list[Node | LogInfo]:
        if not _is_on(context, 'rviz'):
            return []
        if 'rviz2' not in get_packages_with_prefixes():
            return [LogInfo(msg='rviz: expected the package rviz2, found none; the other nodes '
                                'start without it')]
        prefix = _prefix(context)
        return [Node(
            package='rviz2', executable='rviz2', namespace=_given(context, 'namespace'),
            arguments=['-d', str(with_tf_prefix(CONFIG / config, prefix.rstrip('/'))), *(
                ['-f', prefix + fixed_frame] if fixed_frame else [])],
            parameters=[{'use_sim_time': _is_on(context, 'use_sim_time')}])]

    return OpaqueFunction(function=start)


def with_tf_prefix(path: Path, prefix: str) -> Path:
    """Return an RViz file whose robot models have a prefix of TF, which no option of RViz sets."""
    before, entry, after = path.read_text(encoding='utf-8').partition('TF Prefix: ""')
    if not (prefix and entry):
        return path
    with tempfile.NamedTemporaryFile(
            'w', suffix='.rviz', delete=False, encoding='utf-8') as written:
        written.write(f'{before}TF Prefix: {prefix}{after}')
    return Path(written.name)


def _check(context: LaunchContext, names: Sequence[str],
           choices: Sequence[ChoiceArgument]) -> None:
    """Refuse arguments that launch would pass over, and write words as launch reads them."""
    _require_known(context, names)
    for each in choices:
        each.check(context)
    delay = _given(context, 'respawn_delay')
    if not _is_time(delay):
        raise ValueError(f'respawn_delay: expected a number of s, 0 or more, got {delay!r}')
    path = _given(context, 'params_file')
    if not Path(path).is_file():  # launch would start the nodes with their defaults
        raise FileNotFoundError(f'params_file: expected a file, got {path!r}')


def _is_time(given: str) -> bool:
    try:
        return 0.0 <= float(given) < math.inf
    except ValueError:
        return False


def _require_known(context: LaunchContext, names: Sequence[str]) -> None:
    """Refuse unknown arguments, unless another launch file includes this one: they may be its."""
    this = Path(context.locals.current_launch_file_path).name
    if this not in [Path(argument).name for argument in sys.argv]:
        return
    for argument in context.argv:
        name = argument.partition(':=')[0]
        if name not in names and name not in OF_ROS2_LAUNCH:
            near = get_close_matches(name, names, 1)
            raise ValueError(f'{this}: expected some of the arguments {names}, got {name!r}'
                             + (f'; the nearest is {near[0]}' if near else ''))


def _given(context: LaunchContext, name: str) -> str:
    return LaunchConfiguration(name).perform(context)


def _is_on(context: LaunchContext, name: str) -> bool:
    return _given(context, name) == 'true'


def _prefix(context: LaunchContext) -> str:
    """Return the prefix of frames: the namespace and a slash."""
    return f'{_given(context, "namespace").strip("/")}/'.lstrip('/')


def _text(value: str) -> ParameterValue:
    return ParameterValue(value, value_type=str)
