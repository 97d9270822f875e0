# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Look whether this computer is fit to run the nodes, on one page that fits into an issue.

`liedyn doctor`. It works
without ROS too, and changes nothing. The exit code is that of the worst finding: 0 none, 1 a
warning, 2 an error.
"""

import argparse
from collections.abc import Iterator, Sequence
import json
import sys

from liedyn_ros.commands.operation import environment, middleware, shared_memory
from liedyn_ros.commands.operation.computer import (
    clock_difference, clock_findings, DoctorLine, kernel_findings, real_time_findings, Severity)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the findings; return the worst level."""
    options = parser().parse_args(arguments)
    found = list(findings())
    if options.json:
        print(json.dumps([{**each._asdict(), 'level': each.level.name} for each in found],
                         indent=1))
    else:
        print(page(found))
    return max(each.level for each in found)


def findings() -> Iterator[DoctorLine]:
    """Provide every finding."""
    before = clock_difference()
    yield from environment.findings()
    yield from kernel_findings()
    yield from real_time_findings()
    yield from shared_memory.findings()
    yield from middleware.findings()
    yield from clock_findings(before)  # at the end: the others took seconds


def page(found: Sequence[DoctorLine]) -> str:
    """Return the findings as text: the bad ones first, then all by part."""
    bad = [each for each in found if each.level]
    lines = [f'liedyn_ros doctor: {len(bad)} of {len(found)} findings need attention']
    lines += [_line(each) for each in sorted(bad, key=lambda each: -each.level)]
    for part in dict.fromkeys(each.part for each in found):
        lines += ['', f'## {part}', *(_line(each) for each in found if each.part == part)]
    return '\n'.join(lines)


def _line(finding: DoctorLine) -> str:
    sign = {Severity.OK: '  ', Severity.WARN: 'W ', Severity.ERROR: 'E '}[finding.level]
    return sign + finding.text + (f'  -> {finding.cure}' if finding.cure else '')


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='liedyn doctor', description='Check whether this computer is ready to run the nodes.')
    result.add_argument('--json', action='store_true', help='print the findings as JSON')
    return result


if __name__ == '__main__':
    sys.exit(main())
