# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Packages that single parts need beside the core: a missing one is named with its remedy."""

from importlib.util import find_spec


def require_module(name: str, remedy: str) -> None:
    """Raise ModuleNotFoundError that tells the remedy, where a module is not installed."""
    if find_spec(name) is None:
        raise ModuleNotFoundError(f'{name}: expected an installed package, found none; {remedy}',
                                  name=name)
