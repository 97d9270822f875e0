# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Known advisories of pinned packages: python -m tools.advisories requirements/*.txt.

pip-audit asks the service of PyPI. It fails where a version has an advisory. Where the service
cannot be reached, or does not know a package, the output says so, and that is no verdict. A
version with many advisories is asked for too: a service that has none of it has no verdict.
"""

import argparse
from collections.abc import Iterable, Sequence
import json
from pathlib import Path
import re
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import Any

PINNED = re.compile(r'^\s*([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;#]+)')
LIMIT = 300.0  # s
CANARY = 'django==3.0'
OUT_OF_REACH = re.compile(  # of errors
    r'(?i)connect|timed? ?out|resolve|retries|unreachable|\b(429|5\d\d) ')


def pins(paths: Iterable[Path]) -> list[str]:
    """Return the pinned packages of files of requirements, of several versions the last."""
    found = {match[1].lower(): f'{match[1]}=={match[2]}' for path in paths
             for line in path.read_text(encoding='utf-8').splitlines()
             if (match := PINNED.match(line))}
    return sorted(found.values())


def verdict(report: dict[str, Any]) -> tuple[list[str], list[str], int]:
    """Return what has advisories, what could not be looked up, and how many have none."""
    bad, unknown, good = list[str](), list[str](), 0
    canary = CANARY.partition('==')[0]
    knows = any(each['name'] == canary and each.get('vulns') for each in report['dependencies'])
    for each in report['dependencies']:
        known = each.get('vulns') if knows else None
        name = f'{each["name"]} {each.get("version", "")}'.strip()
        if each['name'] == canary:
            continue
        if known is None:
            unknown.append(name)
        elif known:
            bad += [f'{name}: {one["id"]}, mended in {", ".join(one["fix_versions"]) or "none"}'
                    for one in known]
        else:
            good += 1
    return bad, unknown, good


def audit(packages: Sequence[str]) -> dict[str, Any] | None:
    """
    Return the report of pip-audit of packages, None where the service is out of reach.

    Raises SystemExit where pip-audit fails for another reason.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / 'requirements.txt'
        path.write_text('\n'.join([*packages, CANARY, '']), encoding='utf-8')
        try:
            done = subprocess.run(
                [sys.executable, '-m', 'pip_audit', '-r', str(path), '--no-deps', '--disable-pip',
                 '-f', 'json', '--progress-spinner', 'off'], text=True, capture_output=True,
                timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired:
            return None
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        if OUT_OF_REACH.search(done.stderr):
            return None
        raise SystemExit(f'pip-audit: expected a report, got {done.stderr}') from None
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the verdict; return 1 where a package has an advisory."""
    parser = argparse.ArgumentParser(prog='advisories', description='Ask for known advisories.')
    parser.add_argument('files', nargs='+', type=Path, help='requirements')
    packages = pins(parser.parse_args(arguments).files)
    report = audit(packages)
    if report is None:
        print(f'{len(packages)} packages NOT LOOKED UP: the service is out of reach')
        return 0
    bad, unknown, good = verdict(report)
    print(*bad, sep='\n', end='\n' * bool(bad))
    print(f'{good} packages without a known advisory, {len(bad)} advisories, '
          f'{len(unknown)} packages NOT LOOKED UP')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
