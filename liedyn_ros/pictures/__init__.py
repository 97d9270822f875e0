# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How pictures look and are saved: columns of papers, readable in print, numbers beside them."""

from liedyn_ros.common.extras import require_extra

require_extra('plots', 'matplotlib', reason='pictures are drawn by it')

from liedyn_ros.pictures.machine import beside_machine, draw_machine  # noqa: E402
from liedyn_ros.pictures.platform import (  # noqa: E402
    draw_platform, legend_of, share_scale)
from liedyn_ros.pictures.saving import save  # noqa: E402
from liedyn_ros.pictures.style import (  # noqa: E402
    BOUND, COLUMN_WIDTH_MM, fill, legend_above, legend_beside, new_figure, PAGE, PALETTE,
    RIGHT_COLOR, WRONG_COLOR)

__all__ = ['beside_machine', 'BOUND', 'COLUMN_WIDTH_MM', 'draw_machine', 'draw_platform', 'fill',
           'legend_above', 'legend_beside', 'legend_of', 'new_figure', 'PAGE', 'PALETTE',
           'RIGHT_COLOR', 'save', 'share_scale', 'WRONG_COLOR']
