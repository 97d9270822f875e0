# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The compiled kernels that the package was built with: whether they are there and run here."""

from collections.abc import Iterator

from liedyn_ros.commands.operation.finding import Finding, Severity
from liedyn_ros.jit.rooms import library_of, NotBuiltError, processor_here

PART = 'kernels'
ROOMS = 'lie', 'model', 'dynamics', 'loops', 'stewart', 'identification', 'retiming'


def findings() -> Iterator[Finding]:
    """Provide the state of the libraries."""
    try:
        found = [library_of(room) for room in ROOMS]
    except NotBuiltError as error:
        yield Finding(PART, Severity.ERROR, str(error), 'build or install the package again')
        return
    size = sum(path.stat().st_size for path in found)
    yield Finding(PART, Severity.OK, f'{len(found)} libraries for {found[0].parent.name}, '
                  f'{1e-6 * size:.0f} MB; this processor is {processor_here()}')
