# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
The command `liedyn`: every verb of the package, imported only when it is asked for.

`liedyn identify robot.urdf my_bag`; `liedyn --help` lists the verbs. Nodes are started by
`ros2 run liedyn_ros NODE`. Completion of a shell comes from argcomplete, as that of `ros2`:
`eval "$(register-python-argcomplete liedyn)"`.
"""

import argparse
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
import os
import sys
from typing import Any, NamedTuple, TextIO
import warnings

from liedyn_ros.common.markup import Terminal

HELP = {'-h', '--help'}
COMPLETING = '_ARGCOMPLETE'  # set by a shell that asks for completions
_COMMANDS = 'liedyn_ros.commands'
PIPE_CLOSED = 141  # the exit code that shells give a program ended by SIGPIPE


class Verb(NamedTuple):
    """A verb: its words, what it does, where it runs, and where its options are without extras."""

    words: str
    purpose: str
    main: str  # module:function of the arguments
    options: str  # module:function that returns the parser

    def run(self, arguments: Sequence[str]) -> int:
        """Run the verb, or show its help; return the exit code."""
        if HELP & set(arguments):
            self.parser().parse_args(['--help'])
        return int(_named(self.main)(list(arguments)) or 0)

    def parser(self) -> argparse.ArgumentParser:
        """Return the parser of the verb's options."""
        parser = _named(self.options)()
        if not isinstance(parser, argparse.ArgumentParser):
            raise TypeError(f'{self.options}: expected a parser, got {parser!r}')
        return parser


def _verb(words: str, purpose: str, module: str, options: str = '') -> Verb:
    return Verb(words, purpose, f'{module}:main', options or f'{module}:parser')


GROUPS: dict[str, tuple[Verb, ...]] = {
    'an arm, or any robot with joints': (
        _verb('identify', 'masses, inertias and friction from a recording',
              f'{_COMMANDS}.identification.identify'),
        _verb('excite', 'a motion to record that shows them',
              f'{_COMMANDS}.identification.excite'),
        _verb('payload', 'mass, centre and inertia of what a robot carries',
              f'{_COMMANDS}.identification.payload'),
        _verb('calibrate', 'the geometry of an arm from measured poses',
              f'{_COMMANDS}.identification.calibrate_arm'),
        _verb('retime', 'the fastest run along a path within limits of joints and motors',
              f'{_COMMANDS}.retiming.retime'),
        _verb('export', 'a model file for the C library', 'liedyn_ros.export.command')),
    'a Stewart platform': (
        _verb('platform rotary', 'the geometry file of a hexapod of servos, with a drawing',
              f'{_COMMANDS}.stewart.rotary_hexapod',
              f'{_COMMANDS}.stewart.drawing_options:rotary_parser'),
        _verb('platform check', 'readings at known poses against the geometry',
              f'{_COMMANDS}.stewart.check'),
        _verb('platform calibrate', 'the geometry from measured poses or points',
              f'{_COMMANDS}.stewart.calibrate'),
        _verb('platform path', 'a proof that a path meets no singularity',
              f'{_COMMANDS}.stewart.path'),
        _verb('platform workspace', 'a map of the workspace',
              f'{_COMMANDS}.stewart.drawings.workspace',
              f'{_COMMANDS}.stewart.drawing_options:workspace_parser'),
        _verb('platform modes', 'every pose that six leg lengths allow',
              f'{_COMMANDS}.stewart.drawings.assembly_modes',
              f'{_COMMANDS}.stewart.drawing_options:modes_parser')),
    'a recording': (
        _verb('bag process', 'poses or joint efforts of a bag, as tables and pages',
              f'{_COMMANDS}.bags.process_bag'),
        _verb('bag record', 'topics into a bag of MCAP', 'liedyn_ros.bags.record',
              f'{_COMMANDS}.bags.topic_options:recording_parser'),
        _verb('bag play', 'a bag onto its topics', 'liedyn_ros.bags.play',
              f'{_COMMANDS}.bags.topic_options:playing_parser')),
    'the system': (
        _verb('view', 'a live view of a robot in a browser', f'{_COMMANDS}.operation.view'),
        _verb('doctor', 'what is wrong with this installation and its nodes',
              f'{_COMMANDS}.operation.doctor'),
        _verb('policy', 'a security policy of SROS 2 for the nodes',
              f'{_COMMANDS}.operation.security_policy')),
    'the papers': (
        _verb('reproduce stewart', 'tables and figures of the pose estimation',
              'liedyn_ros.studies.stewart_pose.study',
              'liedyn_ros.studies.options:stewart_parser'),
        _verb('reproduce higher-order', 'time derivatives of the aerial manipulator',
              'liedyn_ros.studies.time_derivatives.study',
              'liedyn_ros.studies.options:higher_order_parser')),
}
VERBS = {verb.words: verb for verbs in GROUPS.values() for verb in verbs}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb; return its exit code, 2 where there is no such verb."""
    if COMPLETING in os.environ:
        complete()
    # Matrices are small: threads of BLAS wait for each other. numpy reads it as it is imported
    os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    arguments = sys.argv[1:] if arguments is None else arguments
    shown: list[Any] = [Terminal(sys.stdout), Terminal(sys.stderr)]
    with redirect_stdout(shown[0]), redirect_stderr(shown[1]), warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            code = _run(arguments)
            sys.stdout.flush()
        except BrokenPipeError:  # whoever read has read enough, as head does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return PIPE_CLOSED
        return code


def _show_warning(message: Warning | str, category: type[Warning], filename: str, lineno: int,
                  file: TextIO | None = None, line: str | None = None) -> None:
    """Print the text of a warning; of one for programmers, such as numpy's, its place too."""
    text = f'warning: {message}\n' if issubclass(category, UserWarning) else (
        warnings.formatwarning(message, category, filename, lineno, line))
    (file or sys.stderr).write(text)


def _run(arguments: Sequence[str]) -> int:
    for count in (2, 1):
        verb = VERBS.get(' '.join(arguments[:count]))
        if verb and len(arguments) >= count:
            return verb.run(arguments[count:])
    asked = not arguments or arguments[0] in HELP
    first = '' if asked else arguments[0]
    inside = [words for words in VERBS if words.split()[0] == first]
    print(overview(first if inside else ''), file=sys.stdout if asked else sys.stderr)
    if not asked and not (inside and HELP & set(arguments)):
        wanted = ', '.join(inside) if inside else 'one of the verbs above'
        print(f'liedyn: expected {wanted}, got {" ".join(arguments[:2])!r}', file=sys.stderr)
        return 2
    return 0


def overview(first: str = '') -> str:
    """Return the verbs by group, as text; first: only those that begin with this word."""
    lines = ['usage: liedyn VERB [options]; liedyn VERB --help has the options']
    width = max(map(len, VERBS))
    for group, verbs in GROUPS.items():
        shown = [verb for verb in verbs if first in ('', verb.words.split()[0])]
        if shown:
            lines += ['', f'{group}:']
            lines += [f'  {verb.words:{width}}  {verb.purpose}' for verb in shown]
    return '\n'.join(lines)


def complete() -> None:
    """Answer a shell that asks for completions, and end; without argcomplete there are none."""
    try:
        import argcomplete
    except ModuleNotFoundError:
        return
    top = argparse.ArgumentParser(prog='liedyn')
    verbs = top.add_subparsers()
    typed = os.environ.get('COMP_LINE', '').split()[1:]
    nested: dict[str, argparse._SubParsersAction[argparse.ArgumentParser]] = {}
    for verb in VERBS.values():
        *group, name = verb.words.split()
        above = verbs
        for word in group:
            if word not in nested:
                nested[word] = verbs.add_parser(word).add_subparsers()
            above = nested[word]
        asked = typed[:len(group) + 1] == [*group, name]  # only its options are needed, if any
        above.add_parser(name, parents=[verb.parser()] if asked else [], add_help=False)
    argcomplete.autocomplete(top)


def _named(target: str):  # type: ignore[no-untyped-def]
    module, _, name = target.partition(':')
    return getattr(import_module(module), name)


if __name__ == '__main__':
    sys.exit(main())
