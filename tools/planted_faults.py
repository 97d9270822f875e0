# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Plant faults in a copy of the package and tell which tests see them: the core, all, or none.

    git worktree add FOLDER && python -m tools.planted_faults FOLDER [NUMBER ...]

The folder has the environment of this tree (.venv). Each fault is taken out again.
"""

import argparse
from pathlib import Path
import subprocess
import sys
import time

FAULTS = (  # file under liedyn_ros, text, text with the fault, tests
    ('lie/groups.py', 'self._of(self.matrix @ right.matrix)',
     'self._of(right.matrix @ self.matrix)', 'lie'),
    ('lie/so3.py', "'...ij,...j->...i', r, x", "'...ji,...j->...i', r, x", 'lie'),
    ('lie/so3.py', "left_jacobian(-as_trailing('w', w, (3,)))",
     "left_jacobian(as_trailing('w', w, (3,)))", 'lie'),
    ('lie/so3.py', 'math.atan2(-tilt[2, 0], tilt[0, 0])', 'math.asin(-r[2, 0])', 'lie'),
    ('lie/so3.py', 'return 0.5 * np.stack', 'return 1.0 * np.stack', 'lie'),
    ('lie/so3.py', 'PRINTED_NORM_TOLERANCE = 1e-4', 'PRINTED_NORM_TOLERANCE = 2.5e-4', 'lie'),
    ('lie/kernels/batch.py', 'for i in range(len(pose) // 16)', 'for i in range(1)', 'lie'),
    ('dynamics/algorithms/hybrid.py', 'if order > 0 and max_error', 'if order > 2 and max_error',
     'dynamics/time_derivatives'),
    ('dynamics/algorithms/hybrid.py', 'a, tau, NO_WRENCHES if external is None else external)',
     'a, tau, NO_WRENCHES)', 'dynamics'),
    ('dynamics/tree/inputs.py', 'names=(name,), indices=(code - 1,)', 'names=(name,)', 'dynamics'),
    ('dynamics/algorithms/kernels/rnea.py', 'return finite(out)', 'return True', 'dynamics'),
    ('dynamics/algorithms/kernels/rnea.py', ' or overlap(out, q)', '', 'dynamics'),
    ('dynamics/algorithms/kernels/articulated.py', 'return count <= 1', 'return count <= 2',
     'dynamics'),
    ('dynamics/algorithms/kernels/crba.py', 'excess += out[k, k] - out[k, k]', 'pass', 'dynamics'),
    ('stewart/solver/pose_solver.py', 'weights = fitted.without(without)',
     'weights = fitted.weights', 'stewart/redundant stewart/solver'),
    ('stewart/solver/pose_solver.py', ' or guess.shape != (4, 4)', '', 'stewart/solver'),
    ('stewart/solver/pose_solver.py', 'outcome[:, 2], outcome[:, 3])',
     'outcome[:, 3], outcome[:, 2])', 'stewart/solver'),
    ('stewart/solver/kernels/solve.py', 'MAX_MISS ** 2 * before', 'before', 'stewart/solver '
     'stewart/tracking'),
    ('stewart/solver/kernels/solve.py', 'abs(guess[3, j] - (j == 3)) <= ORTHONORMAL', 'True',
     'stewart/solver'),
    ('stewart/solver/kernels/solve.py', 'smallest = min(abs(state[platform.VALUE]), transmission)',
     'smallest = abs(state[platform.VALUE])', 'stewart'),
    ('stewart/solver/least_squares.py', 'weights[left_out] = 0.0', 'weights[left_out[:1]] = 0.0',
     'stewart/redundant stewart/solver'),
    ('stewart/tracking/kernels/follower.py', 'if moves and is_predictable(gap, span):',
     'if moves:', 'stewart/tracking stewart/redundant'),
    ('stewart/tracking/kernels/sample.py', 'or status == problem.INVALID or keeps:',
     'or status == problem.INVALID:', 'stewart/tracking stewart/redundant'),
    ('stewart/tracking/tracker.py', '= self._last, sample.rates, tracked',
     '= self._last, None, tracked', 'stewart/tracking'),
    ('stewart/tracking/examination.py', '            faults = NO_FAULTS  # a rod',
     '            pass  # a rod', 'stewart'),
    ('stewart/tracking/examination.py', '        self.rates.reset()\n', '',
     'stewart/tracking'),
    ('stewart/tracking/kernels/sample.py', 'if started and follower[REPORTED_SIGN] != before:',
     'if follower[REPORTED_SIGN] != before:', 'stewart'),
    ('stewart/tracking/monitored_tracker.py', 'stamp_ns if reading_ns is None else reading_ns',
     'stamp_ns', 'stewart'),
    ('nodes/stewart/pose/leg_input.py', 'if self._use_rates and len(velocities)',
     'if len(velocities)', 'nodes/stewart/pose'),
    ('nodes/stewart/pose/leg_input.py', '        self._sets.clear()', '        pass',
     'nodes/stewart/pose'),
    ('nodes/dynamics/reaching.py', 'if count != first:', 'if count < first:', 'nodes/dynamics'),
    ('nodes/dynamics/reading.py', 'if 0 < count < 6:', 'if 0 < count < 5:', 'nodes/dynamics'),
    ('nodes/dynamics/reading.py', '(entries > 1 or query.max_error > 0.0)', '(entries > 1)',
     'nodes/dynamics'),
    ('ros/parameters/parameter_set.py', 'len(value) < self.size if self.or_more',
     'False if self.or_more', 'ros/parameters nodes'),
    ('ros/streams/input_gate.py', 'if not -lead <= age <= 0.0:', 'if not -lead <= age:',
     'ros/streams nodes/stewart/pose'),
    ('lie/se3.py', 'np.maximum(largest(a + np.swapaxes(a, -1, -2)), largest(m[..., 3:, :]))',
     'largest(a + np.swapaxes(a, -1, -2))', 'lie'),
    ('lie/kernels/so3.py', 'if x < 1.0:', 'if x < 16.0:', 'lie'),
    ('lie/kernels/so3.py', 'math.copysign(1.0 / math.sqrt(x * x + y * y + z * z + w * w), w)',
     '1.0 / math.sqrt(x * x + y * y + z * z + w * w)', 'lie'),
    ('stewart/solver/kernels/solve.py', '            nu *= 2.0\n', '',
     'stewart/solver'),
    ('stewart/solver/kernels/least_squares.py', 'math.floor(error / turns[i] + 0.5)',
     'math.floor(error / turns[i])', 'stewart/redundant'),
    ('stewart/tracking/monitored_tracker.py',
     'lost = self._follower.started or self._evidence.restarted',
     'lost = self._follower.started', 'stewart/tracking'),
    ('stewart/tracking/monitored_tracker.py', ' or last is None or crossed:',
     ' or last is None:', 'stewart/tracking'),
    ('nodes/path_runner/path_run.py', 'min(tolerated, 0.999 * largest)', 'tolerated',
     'nodes/path_runner'),
    ('nodes/path_runner/path_run.py', '(self.stopping and not any(instant.place[1:]))',
     'self.stopping', 'nodes/path_runner'),
    ('nodes/stewart/pose/leg_input.py', 'stamp_ns = max(complete', 'stamp_ns = min(complete',
     'nodes/stewart/pose'),
)


def run(tree: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of Python in the copy, with its environment."""
    script = f'. tools/env.sh && exec python -m {" ".join(command)}'
    return subprocess.run(['bash', '-c', script], cwd=tree, capture_output=True, text=True)


def seen_by(tree: Path, tests: str) -> str:
    """Return the tier that sees a planted fault, and its first failing test."""
    if run(tree, 'liedyn_ros.build', '--quiet').returncode:
        return 'the build'
    paths = [f'test/{each}' for each in tests.split()]
    for tier, option in (('core', ['--core']), ('all', [])):
        done = run(tree, 'pytest', '-n', '0', '-x', '-p', 'no:cacheprovider', *option, *paths)
        failed = [line.split()[1] for line in done.stdout.splitlines()
                  if line.startswith(('FAILED', 'ERROR'))]
        if done.returncode:
            return f'{tier}: {failed[0] if failed else done.stdout[-200:]}'
    return 'NONE'


def main() -> None:
    """Plant each fault, or those of some numbers, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.strip().partition('\n')[0])
    parser.add_argument('folder', type=Path, help='the copy')
    parser.add_argument('numbers', type=int, nargs='*', help='of faults; by default all')
    given = parser.parse_args()
    for k in given.numbers or range(len(FAULTS)):
        name, text, fault, tests = FAULTS[k]
        path, began = given.folder / 'liedyn_ros' / name, time.monotonic()
        source = path.read_text(encoding='utf-8')
        if text not in source:
            sys.exit(f'{name}: expected {text!r} in it')
        try:
            path.write_text(source.replace(text, fault, 1), encoding='utf-8')
            found = seen_by(given.folder, tests)
        finally:
            path.write_text(source, encoding='utf-8')
        print(f'{k} {name}: {text.strip()} -> {fault.strip()} | {found} | '
              f'{time.monotonic() - began:.0f} s', flush=True)


if __name__ == '__main__':
    main()
