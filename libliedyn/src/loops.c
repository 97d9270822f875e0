/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Machines with closed loops: files opened, arguments checked, kernels run. */

#include "loops.h"

int liedyn_loops_open(const void *bytes, size_t count, const liedyn_loops **loops) {
  if (bytes == NULL || loops == NULL) return LIEDYN_NULL;
  const int code = check_file(bytes, count, LOOPS, LOOPS_SECTIONS);
  if (code) return code;
  const liedyn_loops *found = bytes;
  const section_row *row = found->sections;
  const liedyn_model *tree = liedyn_loops_tree(found);
  if (!is_tree(tree) || !are_texts(found, row + CLOSURES) || !are_texts(found, row + CONSTRAINTS)
      || row[WORK].bytes % 8
      || kernels()->loops_accepts(content_of(found, row + WORK), row[WORK].bytes / 8,
                                  liedyn_nq(tree), liedyn_nv(tree), liedyn_bodies(tree),
                                  row[CONSTRAINTS].rows, row[CLOSURES].rows) != 0) return LIEDYN_DAMAGED;
  *loops = found;
  return LIEDYN_OK;
}

int liedyn_loops_load(const char *path, void *memory, size_t bytes, const liedyn_loops **loops) {
  size_t length;
  if (path == NULL || memory == NULL || loops == NULL) return LIEDYN_NULL;
  const int code = read_file(path, memory, bytes, &length);
  return code ? code : liedyn_loops_open(memory, length, loops);
}

const liedyn_model *liedyn_loops_tree(const liedyn_loops *loops) { return (const void *)loops; }
int liedyn_loops_order(const liedyn_loops *loops) { return size_at(loops, ORDER); }
int liedyn_constraints(const liedyn_loops *loops) { return size_at(loops, NUMBER_OF_CONSTRAINTS); }
int liedyn_closures(const liedyn_loops *loops) { return size_at(loops, NUMBER_OF_CLOSURES); }

const char *liedyn_constraint_name(const liedyn_loops *loops, int constraint) {
  return text_at(loops, sections(loops) + CONSTRAINTS, constraint);
}

const char *liedyn_closure_name(const liedyn_loops *loops, int closure) {
  return text_at(loops, sections(loops) + CLOSURES, closure);
}

size_t liedyn_loops_work(const liedyn_loops *loops) {
  return loops == NULL ? 0 : sizeof(head) + (size_t)sections(loops)[WORK].bytes;
}

int liedyn_loops_init(const liedyn_loops *loops, void *work, size_t bytes) {
  if (loops == NULL || work == NULL) return LIEDYN_NULL;
  if ((uintptr_t)work % LIEDYN_ALIGNMENT) return LIEDYN_UNALIGNED;
  if (bytes < liedyn_loops_work(loops)) return LIEDYN_WORK_AREA;
  start_work(machine(loops), liedyn_loops_order(loops), work);
  const section_row *row = sections(loops) + WORK;
  memcpy(area(work), content_of(loops, row), (size_t)row->bytes);
  return LIEDYN_OK;
}

int liedyn_loops_explain(const liedyn_loops *loops, const void *work, char *text, size_t size) {
  if (loops == NULL || work == NULL || text == NULL || size == 0) return LIEDYN_NULL;
  const head *of = work;
  if (of->prepared != PREPARED || of->machine != machine(loops)) return LIEDYN_WORK_AREA;
  return explain_coordinates(liedyn_loops_tree(loops), of, text, size);
}

int liedyn_loops_forces(const liedyn_loops *loops, void *work, int order, double *multipliers,
                        double *wrenches) {
  const int code = start(loops, work, order, 1);
  if (code) return code;
  if (order >= kernels()->loops_size(area(work), SOLVED))
    return refused(work, LIEDYN_RANGE, "order", -1, (double)order);
  kernels()->loops_forces(area(work), order, multipliers, wrenches);
  return LIEDYN_OK;
}
