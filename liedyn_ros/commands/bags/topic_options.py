# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Options of `liedyn bag record` and `play`; their `--help` needs neither ROS nor rosbags."""

import argparse
from pathlib import Path


def recording_parser() -> argparse.ArgumentParser:
    """Return the options of `liedyn bag record`."""
    result = argparse.ArgumentParser(
        prog='liedyn bag record', description='Record topics into a bag of MCAP.')
    result.add_argument('folder', type=Path, help='the bag, a new folder')
    result.add_argument('topic', nargs='*', help='topics; default: all')
    result.add_argument('--duration', type=float, default=0.0, metavar='S',
                        help='stop after this time, s; 0, the default: never')
    result.add_argument('--namespace', default='',
                        help='namespace of topics without a leading slash')
    return result


def playing_parser() -> argparse.ArgumentParser:
    """Return the options of `liedyn bag play`."""
    result = argparse.ArgumentParser(
        prog='liedyn bag play',
        description='Publish the messages of a bag at their recorded times.')
    result.add_argument('bag', type=Path, help='a folder of rosbag2, or one of its files')
    result.add_argument('topic', nargs='*', help='topics; default: all')
    result.add_argument('--rate', type=float, default=1.0, help='factor on the recorded speed')
    result.add_argument('--start', type=float, default=0.0, metavar='S',
                        help='skip this time at the beginning, s')
    result.add_argument('--loop', action='store_true', help='begin again at the end')
    result.add_argument('--clock', action='store_true',
                        help='publish the time of the bag on /clock, for use_sim_time')
    result.add_argument('--delay', type=float, default=1.0, metavar='S',
                        help='time to wait for subscribers, by default 1 s')
    return result
