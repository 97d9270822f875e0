# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Print the SROS 2 policy of one node, in its namespace and with its remappings.

`liedyn policy stewart_pose --namespace /left --remap leg_states:=/joints`. `ros2 security
generate_artifacts` makes keys and permissions of what it prints.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
import sys
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from liedyn_ros.commands.inputs import HelpFormatter
from liedyn_ros.common.checks import unknown_name
from liedyn_ros.common.errors import LiedynError, NameSetError
from liedyn_ros.common.resources import config_file

RIGHTS = (('topics', 'publish'), ('topics', 'subscribe'), ('services', 'reply'),
          ('services', 'request'), ('actions', 'execute'), ('actions', 'call'))
Names = dict[tuple[str, str], set[str]]  # of each right, as a node writes them


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the policy; return 0, or 2 where the node or a name is unknown."""
    options = parser().parse_args(arguments)
    try:
        names = remapped(names_allowed(options.node), options.remap, options.namespace,
                         options.name or options.node)
    except LiedynError as error:
        print(f'liedyn policy: {error}', file=sys.stderr)
        return 2
    print(policy_of(options.name or options.node, names, options.namespace), end='')
    return 0


def names_allowed(node: str) -> Names:
    """Return the names of the node's policy in config/policies; raises LiedynError."""
    path = config_file(f'policies/{node}.xml')
    profile, = ElementTree.parse(path).iter('profile')
    return {(kind, right): {each.text or '' for part in profile.iter(kind)
                            if part.get(right) == 'ALLOW' for each in part}
            for kind, right in RIGHTS}


def remapped(
        names: Names, rules: Iterable[str], namespace: str = '/', node: str = '') -> Names:
    """
    Return names under remappings `from:=to`, by full names as ROS 2 compares them.

    A pattern such as `leg_states/*` stays, and the new name comes beside it. Raises NameSetError
    for a rule that fits no name.
    """
    result = names
    for rule in rules:
        old, separator, new = rule.partition(':=')
        if not (old and separator and new):
            raise NameSetError(f'--remap: expected from:=to, got {rule!r}')
        before, full = result, full_name(old, namespace, node)
        result = {right: _replaced(each, full, new, namespace, node)
                  for right, each in before.items()}
        if result == before and old != new:
            opened = sorted({name for names in before.values() for name in names})
            raise unknown_name(NameSetError, '--remap', opened, full, 'a name')
    return result


def _replaced(names: set[str], old: str, new: str, namespace: str, node: str) -> set[str]:
    hit = {name for name in names if fnmatchcase(old, full_name(name, namespace, node))}
    patterns = {name for name in hit if '*' in name}
    return names - (hit - patterns) | ({new} if hit else set())


def full_name(name: str, namespace: str, node: str) -> str:
    """Return the full name of a topic, service or action that a node opens by a name."""
    if name.startswith('/'):
        return name
    start = namespace.rstrip('/')
    return f'{start}/{node}{name[1:]}' if name.startswith('~') else f'{start}/{name}'


def policy_of(node: str, names: Mapping[tuple[str, str], set[str]], namespace: str = '/') -> str:
    """Return the text of a policy that allows a node these names, in the enclave of its name."""
    enclave = full_name(node, namespace, node)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<policy version="0.2.0">', '  <enclaves>',
             f'    <enclave path={quoteattr(enclave)}>', '      <profiles>',
             f'        <profile ns={quoteattr(namespace)} node={quoteattr(node)}>']
    for kind, right in RIGHTS:
        if names[kind, right]:
            one = kind.removesuffix('s')
            lines += [f'          <{kind} {right}="ALLOW">',
                      *(f'            <{one}>{name}</{one}>'
                        for name in sorted(names[kind, right])),
                      f'          </{kind}>']
    lines += ['        </profile>', '      </profiles>', '    </enclave>', '  </enclaves>',
              '</policy>']
    return '\n'.join(lines) + '\n'


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='liedyn policy', formatter_class=HelpFormatter,
        description='Print the SROS 2 policy of one node.')
    result.add_argument('node', help='executable of the node')
    result.add_argument('--namespace', default='/', help='namespace in which it runs')
    result.add_argument('--name', help="the node's name, if it differs from the executable's")
    result.add_argument('--remap', nargs='+', action='extend', default=[], metavar='FROM:=TO',
                        help='remappings of its topics, services and actions')
    return result


if __name__ == '__main__':
    sys.exit(main())
