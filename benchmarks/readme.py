# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""README's sentences on speed, from docs/figures.md: `python -m benchmarks.readme` renews them."""

from pathlib import Path
import re

ROOT = Path(__file__).parents[1]
PAGE, README = ROOT / 'docs' / 'figures.md', ROOT / 'README.md'
BETWEEN = re.compile(r'- \*\*Fast dynamics\.\*\*.*?(?=- \*\*Paths)', re.DOTALL)
SENTENCES = """\
- **Fast dynamics.** Inverse dynamics of a humanoid takes {inverse:.2f} of Pinocchio's time,
  both called from Python. With `out=`, as Pinocchio's data, its centre of mass takes {center:.2f},
  the poses of its frames {poses:.2f}, a Jacobian {jacobian:.2f}. Calls that return new arrays take
  {new_center:.2f}, {new_poses:.2f} and {new_jacobian:.2f}. On arms of six and seven joints inverse
  dynamics takes {inverse_least:.2f} to {inverse_most:.2f}, the others {least:.2f} to {most:.2f}
  with `out=`, and {new_least:.2f} to {new_most:.2f} without.
  [All figures](docs/figures.md)
- **Time derivatives.** Inverse dynamics with its first five time derivatives takes {few:.1f}
  to {many:.1f} times as long as Pinocchio's `rnea`. It is {casadi:.0f} times faster than automatic
  differentiation by CasADi, or more. Orders go to 30.
  [What they are good for](docs/guides/time_derivatives.md),
  [dynamics from Python](docs/dynamics.md)
"""
EVERYDAY = ('centre of mass', 'poses of all frames', 'Jacobian of a frame')


def sentences(page: str) -> str:
    """Return the sentences by the tables of a page of figures."""
    of = {text.splitlines()[0]: _rows(text.partition('\n### ')[0])
          for text in page.split('\n## ')[1:]}
    inverse = {row[0]: float(row[7]) for row in of['Inverse and forward dynamics beside Pinocchio']
               if row[1] == 'inverse'}
    everyday = {tuple(row[:2]): (float(row[4]), float(row[6])) for row in of['Everyday kinematics']
                if row[1] in EVERYDAY and row[4]}
    by_inverse = [ratio for machine, ratio in inverse.items() if machine.startswith('arm')]
    by_out, by_new = zip(*(each for (machine, _), each in everyday.items()
                           if machine.startswith('arm')))
    order = [row for row in of['Time derivatives'] if row[1:3] == ['inverse', '5']]
    ratios = [float(row[7]) for row in order if len(row) > 5]
    center, poses, jacobian = (everyday['humanoid (g1)', each] for each in EVERYDAY)
    return SENTENCES.format(
        inverse=inverse['humanoid (g1)'], center=center[0], poses=poses[0], jacobian=jacobian[0],
        new_center=center[1], new_poses=poses[1], new_jacobian=jacobian[1],
        inverse_least=min(by_inverse), inverse_most=max(by_inverse), least=min(by_out),
        most=max(by_out), new_least=min(by_new), new_most=max(by_new), few=min(ratios),
        many=max(ratios), casadi=min(float(row[4]) for row in order if len(row) == 5))


def _rows(section: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip('|').split('|')]
            for line in section.splitlines() if line.startswith('| ')]


def main() -> None:
    """Renew README."""
    new = sentences(PAGE.read_text())
    README.write_text(BETWEEN.sub(lambda _: new, README.read_text()))


if __name__ == '__main__':
    main()
