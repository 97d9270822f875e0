# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Options of the studies; their `--help` needs no package that draws."""

import argparse

from liedyn_ros.commands import outputs

STEWART_FOLDER, HIGHER_ORDER_FOLDER = 'out/stewart_study', 'out/higher_order'
STUDY_ORDER = 5


def stewart_parser() -> argparse.ArgumentParser:
    """Return the options of `liedyn reproduce stewart`."""
    result = argparse.ArgumentParser(
        prog='liedyn reproduce stewart',
        description='Repeat the study of the Stewart paper: Tables 2 and 3 next to the published '
                    'figures, Figures 4 to 9.')
    result.add_argument('--folder', type=outputs.folder, default=STEWART_FOLDER,
                        help=f'where to draw the figures (default: {STEWART_FOLDER})')
    return result


def higher_order_parser() -> argparse.ArgumentParser:
    """Return the options of `liedyn reproduce higher-order`."""
    result = argparse.ArgumentParser(
        prog='liedyn reproduce higher-order',
        description='Repeat the experiment of Ali et al.: inverse and forward dynamics with time '
        f'derivatives to order {STUDY_ORDER}.')
    result.add_argument('--folder', type=outputs.folder, default=HIGHER_ORDER_FOLDER,
                        help=f'where to draw the plots (default: {HIGHER_ORDER_FOLDER})')
    return result
