# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Write the badges of README: python -m tools.badges.

They are drawn from the files that decide what they say, so they are true, and need no network.
"""

from pathlib import Path
import re

from tools.command_line import no_arguments

from liedyn_ros.commands.operation import environment

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / 'docs' / 'images' / 'badges'
LETTER, PAD, HEIGHT = 6.6, 8.0, 20  # px
BADGE = """<svg xmlns="http://www.w3.org/2000/svg" width="{all:.0f}" height="{height}" role="img"
 aria-label="{label}: {value}"><rect width="{all:.0f}" height="{height}" rx="3" fill="#555"/>
<rect x="{left:.0f}" width="{right:.0f}" height="{height}" rx="3" fill="#0072b2"/>
<g fill="#fff" font-family="DejaVu Sans,Verdana,sans-serif" font-size="11" text-anchor="middle">
<text x="{label_at:.1f}" y="14">{label}</text><text x="{value_at:.1f}" y="14">{value}</text>
</g></svg>
"""


def values() -> dict[str, str]:
    """Return what each badge says."""
    setup = (ROOT / 'setup.py').read_text(encoding='utf-8')
    releases = sorted(path.stem.removeprefix('ros-').capitalize()
                      for path in (ROOT / 'requirements').glob('ros-*.txt'))
    return {'licence': _found(r"license='([^']*)'", setup),
            'Python': ' to '.join(f'{major}.{minor}' for major, minor in environment.PYTHON),
            'ROS 2': ', '.join(releases)}


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise LookupError(f'expected {pattern}, found none')
    return found[1]


def badge(label: str, value: str) -> str:
    """Return a badge as SVG."""
    left, right = (LETTER * len(each) + 2.0 * PAD for each in (label, value))
    return BADGE.format(label=label, value=value, height=HEIGHT, all=left + right, left=left,
                        right=right, label_at=0.5 * left, value_at=left + 0.5 * right)


def file_of(label: str) -> Path:
    """Return the file of a badge."""
    return FOLDER / f'{label.lower().replace(" ", "_")}.svg'


def main() -> None:
    """Write them all."""
    no_arguments(__doc__)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for label, value in values().items():
        file_of(label).write_text(badge(label, value), encoding='utf-8')


if __name__ == '__main__':
    main()
