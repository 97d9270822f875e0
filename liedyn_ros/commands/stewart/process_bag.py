# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Poses of a Stewart platform from the leg states of a bag, as the pose node would give them.

`ros2 run liedyn_ros process_bag my_bag --params my_stewart.yaml --csv poses.csv`, or the same with
`python -m liedyn_ros.commands.stewart.process_bag`.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
import sys
import time

from liedyn_ros.commands.stewart.processed.platform_settings import settings_of
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.extras import require_module

EVERY = 2.0  # s between two lines of progress


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the results; return 0 where all messages have a pose, 1 where some, 2 without any."""
    options = parser().parse_args(arguments)
    try:
        for name in ('rosbags', 'mcap'):
            require_module(name, "pip install 'liedyn_ros[bags]'")
        if options.html is not None:
            require_module('viser', "pip install 'liedyn_ros[view]'")
        counts, lost = _process(options)
    except (LiedynError, OSError, ModuleNotFoundError) as error:
        print(f'process_bag: {error}', file=sys.stderr)
        return 2
    print(f'{counts.total()} messages:', ', '.join(
        f'{count} {outcome}' for outcome, count in counts.most_common()))
    for each in lost:
        print(f'- {each}')
    if not counts['with a pose']:
        return 2
    return 0 if counts['with a pose'] == counts.total() and not lost else 1


def _process(options: argparse.Namespace) -> tuple[Counter[str], list[str]]:
    """Return how many messages had which outcome, and what could not be read."""
    from liedyn_ros.commands.stewart.processed.shown import Shown
    from liedyn_ros.commands.stewart.processed.tracking import Processed, processed
    from liedyn_ros.commands.stewart.processed.writers import BagWriter, csv_writer
    from liedyn_ros.recordings.bags import Bag, joint_state_messages
    settings, bag = settings_of(options.params), Bag(options.bag)
    topic = bag.topic(options.topic, 'sensor_msgs/msg/JointState')
    counts, reasons = Counter[str](), Counter[str]()
    told_at, total = time.monotonic(), bag.counts[topic]
    with ExitStack() as stack:
        writers: list[Callable[[Processed], None]] = []
        if options.csv is not None:
            writers.append(csv_writer(stack.enter_context(
                options.csv.open('w', newline='', encoding='utf-8'))))
        if options.mcap is not None:
            prefix = settings['frame_prefix']
            writer = BagWriter(options.mcap, prefix + settings['base_frame'],
                               prefix + settings['platform_frame'])
            stack.callback(writer.close)
            writers.append(writer)
        if options.html is not None:
            shown = Shown(options.html, settings)
            stack.callback(shown.close)
            writers.append(shown)
        for each in processed(joint_state_messages(bag, topic), settings):
            good = each.pose is not None and each.pose.converged
            counts['with a pose' if good else
                   'refused' if each.pose is None else 'not solved'] += 1
            if not good:
                reasons[each.reason] += 1
            for write in writers:
                write(each)
            if time.monotonic() - told_at > EVERY:
                told_at = time.monotonic()
                print(f'{counts.total()} of {total}', file=sys.stderr)
    return counts, [*(f'{count} times: {reason}' for reason, count in reasons.most_common(5)),
                    *(str(loss) for loss in bag.losses)]


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    result = argparse.ArgumentParser(
        prog='process_bag', formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        description='Poses of a Stewart platform from the leg states of a bag.')
    result.add_argument('bag', type=Path, help='folder, .mcap or .db3')
    result.add_argument('--topic', default='leg_states', help='topic of the leg states')
    result.add_argument('--params', type=Path, help='parameter file of the pose node')
    result.add_argument('--csv', type=Path, help='CSV file to write')
    result.add_argument('--mcap', type=Path, help='folder of a new bag to write')
    result.add_argument('--html', type=Path,
                        help='HTML file that plays the poses in any browser, of 300 s at most')
    return result


if __name__ == '__main__':
    sys.exit(main())
