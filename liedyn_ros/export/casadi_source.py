# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Dynamics of a robot as external functions of CasADi with Jacobians, in C on libliedyn.

`liedyn export robot.urdf --casadi -o robot.c` writes the source. Compiled and linked with
libliedyn, it has functions that casadi.external finds: robot_inverse(q, v, a), robot_forward(q, v,
tau) and, for each of --frames, robot_FRAME_position(q). Code that CasADi generates calls them too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import os
from pathlib import Path
import re

from liedyn_ros.common.checks import require_kind
from liedyn_ros.common.errors import LiedynError, ModelError
from liedyn_ros.common.whole_files import write_whole
from liedyn_ros.export.model_file import model_bytes
from liedyn_ros.model import Model
from liedyn_ros.model.kernels import kinds

_BEGIN = """/* Written by liedyn export --casadi for casadi.external: {model}, on libliedyn. */

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "liedyn.h"

typedef long long int casadi_int;
enum {{ NQ = {nq}, NV = {nv}, JOINTS = {joints} }};
static const int joint_nq[] = {{{nqs}}}, joint_q[] = {{{qi}}}, joint_v[] = {{{vi}}};
static alignas(LIEDYN_ALIGNMENT) const unsigned char content[] = {{
{content}}};

/* Of a thread: its view of the model, and its work area, which stays until the program ends. */
static _Thread_local const liedyn_model *machine;
static _Thread_local void *work;

static int ready(void) {{
  if (machine != NULL) return 1;
  const liedyn_model *found;
  if (liedyn_open(content, sizeof content, &found) != LIEDYN_OK) return 0;
  const size_t size = liedyn_work(found, 0);
  if (work == NULL)
    work = aligned_alloc(LIEDYN_ALIGNMENT, (size + LIEDYN_ALIGNMENT - 1) / LIEDYN_ALIGNMENT
                         * LIEDYN_ALIGNMENT);
  if (work == NULL || liedyn_init(found, 0, work, size) != LIEDYN_OK) return 0;
  machine = found;
  return 1;
}}

/* Write a matrix (rows, NV), stored by rows, by columns. */
static void by_columns(const double *matrix, int rows, double *out) {{
  for (int j = 0; j < NV; ++j)
    for (int i = 0; i < rows; ++i) out[j * rows + i] = matrix[i * NV + j];
}}

/*
 * The same by the NQ numbers of q, of one along the tangents of liedyn_integrate: of all whose
 * product with each motion is the derivative along it, the smallest. A quaternion (x, y, z, w)
 * moves by columns E of its rates, E^T E = 1/4.
 */
static void by_configuration(const double *matrix, int rows, const double *q, double *out) {{
  for (int n = 0; n < JOINTS; ++n) {{
    const double *by = matrix + joint_v[n];
    double *to = out + joint_q[n] * rows;
    const int place = joint_nq[n] - 4; /* of the quaternion */
    if (place < 0) {{
      for (int i = 0; i < rows; ++i) to[i] = by[i * NV];
      continue;
    }}
    const double *at = q + joint_q[n] + place;
    const double x = at[0], y = at[1], z = at[2], s = at[3];
    const double rate[4][3] = {{{{s, -z, y}}, {{z, s, -x}}, {{-y, x, s}}, {{-x, -y, -z}}}};
    for (int k = 0; k < 4; ++k)
      for (int i = 0; i < rows; ++i) {{
        const double *b = by + i * NV;
        to[(k + place) * rows + i] =
            2.0 * (rate[k][0] * b[0] + rate[k][1] * b[1] + rate[k][2] * b[2]);
      }}
    if (place == 0) continue;
    const double turn[3][3] = {{ /* of the base, whose velocity is along its own axes */
        {{1 - 2 * (y * y + z * z), 2 * (x * y - z * s), 2 * (x * z + y * s)}},
        {{2 * (x * y + z * s), 1 - 2 * (x * x + z * z), 2 * (y * z - x * s)}},
        {{2 * (x * z - y * s), 2 * (y * z + x * s), 1 - 2 * (x * x + y * y)}}}};
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < rows; ++i) {{
        const double *b = by + i * NV + 3;
        to[k * rows + i] = turn[k][0] * b[0] + turn[k][1] * b[1] + turn[k][2] * b[2];
      }}
  }}
}}

static const casadi_int dense_q[] = {{NQ, 1, 1}}, dense_v[] = {{NV, 1, 1}},
    dense_p[] = {{3, 1, 1}}, none_v[] = {{NV, 1, 0, 0}}, none_p[] = {{3, 1, 0, 0}},
    v_by_q[] = {{NV, NQ, 1}}, v_by_v[] = {{NV, NV, 1}}, p_by_q[] = {{3, NQ, 1}};

/* Copy arguments into w; those that are NULL are zero. */
static void take(const double **arg, int count, double *w) {{
  for (int i = 0; i < count; ++i) {{
    const int size = i ? NV : NQ;
    if (arg[i]) memcpy(w, arg[i], (size_t)size * sizeof *w);
    else memset(w, 0, (size_t)size * sizeof *w);
    w += size;
  }}
}}
"""
# A function of inputs (q, v, x) or q: its value, and its Jacobian. w: inputs, value, matrices.
_FUNCTION = """
int {name}(const double **arg, double **res, casadi_int *iw, double *w, int mem) {{
  double *q = w, *v = q + NQ, *x = v + NV, *y = w + {given};
  (void)iw, (void)mem, (void)v, (void)x;
  take(arg, {count}, w);
  if (!ready() || {value} != LIEDYN_OK) return 1;
  if (res[0]) memcpy(res[0], y + {first}, {rows} * sizeof *y);
  return 0;
}}
casadi_int {name}_n_in(void) {{ return {count}; }}
casadi_int {name}_n_out(void) {{ return 1; }}
const char *{name}_name_in(casadi_int i) {{ return (const char *[]){{{inputs}}}[i]; }}
const char *{name}_name_out(casadi_int i) {{ return i ? NULL : "{output}"; }}
const casadi_int *{name}_sparsity_in(casadi_int i) {{ return i ? dense_v : dense_q; }}
const casadi_int *{name}_sparsity_out(casadi_int i) {{ return i ? NULL : dense_{kind}; }}
int {name}_work(casadi_int *arg, casadi_int *res, casadi_int *iw, casadi_int *w) {{
  *arg = {count}, *res = 1, *iw = 0, *w = {given} + {size};
  return 0;
}}

int jac_{name}(const double **arg, double **res, casadi_int *iw, double *w, int mem) {{
  double *q = w, *v = q + NQ, *x = v + NV, *y = w + {given}, *by = y + {size};
  (void)iw, (void)mem, (void)v, (void)x;
  take(arg, {count}, w);
  if (!ready() || {jacobian} != LIEDYN_OK) return 1;
  if (res[0]) by_configuration(by{skip}, {rows}, q, res[0]);
  for (int i = 1; i < {count}; ++i)
    if (res[i]) by_columns(by + i * NV * NV, {rows}, res[i]);
  return 0;
}}
casadi_int jac_{name}_n_in(void) {{ return {count} + 1; }}
casadi_int jac_{name}_n_out(void) {{ return {count}; }}
const casadi_int *jac_{name}_sparsity_in(casadi_int i) {{
  return i == {count} ? none_{kind} : i ? dense_v : dense_q;
}}
const casadi_int *jac_{name}_sparsity_out(casadi_int i) {{ return i ? v_by_v : {kind}_by_q; }}
int jac_{name}_work(casadi_int *arg, casadi_int *res, casadi_int *iw, casadi_int *w) {{
  *arg = {count} + 1, *res = {count}, *iw = 0, *w = {given} + {size} + {matrices};
  return 0;
}}
"""


def casadi_source(model: Model, name: str = '', *, frames: Sequence[str] = (),
                  dissipation: bool = True) -> str:
    """
    Return the C source of a tree's functions for casadi.external, as the module says.

    Gradients by a configuration have nq numbers.

    Args:
        model: a Model.
        name: prefix of their names; by default the model's name.
        frames: frames that get functions of their poses and Jacobians.
        dissipation: whether damping and friction count.

    Returns:
        the source.

    Raises:
        ModelError: for a machine with closed loops, and for an unknown frame.

    >>> 'arm_inverse' in casadi_source(model)
    True
    """
    require_kind('model', model, Model, 'as load_model returns')
    if model.closures or model.couplings:
        raise ModelError('model: expected one without closed loops and mimic joints, got '
                         f'{model.name}', names=[model.name], got=model.name)
    begin, table = _identifier(name or model.name), model.link_table
    content = model_bytes(model, dissipation=dissipation)
    rows = [', '.join(map(str, content[at:at + 24])) for at in range(0, len(content), 24)]
    links = [(kinds.NQ_OF_KIND[kind], int(qi), int(vi))
             for kind, qi, vi in zip(table.kind, table.qi, table.vi)]
    head = _BEGIN.format(
        model=begin, nq=model.nq, nv=model.nv, joints=len(links), content=',\n'.join(rows), **{
            key: ', '.join(str(link[at]) for link in links)
            for at, key in enumerate(('nqs', 'qi', 'vi'))})
    return head + ''.join(_functions(model, begin, frames))


def write_casadi_source(path: str | os.PathLike[str], model: Model, *,
                        frames: Sequence[str] = (), dissipation: bool = True) -> None:
    """
    Write the C source of a tree's functions for casadi.external, with the name of the file.

    Args:
        path: of the file.
        model: a Model.
        frames: frames that get functions of their poses and Jacobians.
        dissipation: whether damping and friction count.

    Raises:
        OSError: where the file cannot be written.
        ModelError: as casadi_source does.

    >>> write_casadi_source(folder / 'arm.c', model)
    """
    write_whole(Path(path), casadi_source(
        model, Path(path).stem, frames=frames, dissipation=dissipation).encode())


def _functions(model: Model, begin: str, frames: Sequence[str]) -> Iterator[str]:
    matrices = 'by, by + NV * NV, by + 2 * NV * NV'
    of = {'count': 3, 'given': 'NQ + 2 * NV', 'kind': 'v', 'rows': 'NV', 'first': 0,
          'size': 'NV', 'matrices': '3 * NV * NV', 'skip': ''}
    yield _FUNCTION.format(
        name=f'{begin}_inverse', inputs='"q", "v", "a"', output='tau',
        value='liedyn_inverse(machine, work, q, v, x, NULL, y)',
        jacobian=f'liedyn_inverse_jacobians(machine, work, q, v, x, NULL, {matrices})', **of)
    yield _FUNCTION.format(
        name=f'{begin}_forward', inputs='"q", "v", "tau"', output='a',
        value='liedyn_forward(machine, work, q, v, x, NULL, y)',
        jacobian=f'liedyn_forward_jacobians(machine, work, q, v, x, NULL, y, {matrices})', **of)
    for frame in frames:
        at = model.frame_index(frame)
        place = f'liedyn_frame_pose(machine, work, q, {at}, y)'
        yield _FUNCTION.format(
            name=f'{begin}_{_identifier(frame)}_position', inputs='"q"', output='position',
            count=1, given='NQ', kind='p', rows='3', size='19', matrices='6 * NV',
            first='16', skip=' + 3 * NV',
            value=f'({place} || (y[16] = y[3], y[17] = y[7], y[18] = y[11], 0))',
            jacobian=f'liedyn_frame_jacobian(machine, work, q, {at}, '
                     'LIEDYN_LOCAL_WORLD_ALIGNED, by)')


def _identifier(name: str) -> str:
    """Return a name as one of C."""
    found = re.sub(r'\W', '_', name, flags=re.ASCII)
    if not found or found[0].isdigit():
        raise LiedynError(f'name: expected one that begins with a letter, got {name!r}',
                          names=['name'], got=name)
    return found
