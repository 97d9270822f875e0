/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* The model file: opened, checked and asked for names and sizes. */

#include "internal.h"

enum { BYTES_OF_HEADER = 8 * sizeof(int64_t) };
static const char MAGIC[8] = {'L', 'I', 'E', 'D', 'Y', 'N', '\r', '\n'};
static const int64_t FORMAT = 1;

int liedyn_file_size(const char *path, size_t *bytes) {
  if (path == NULL || bytes == NULL) return LIEDYN_NULL;
  FILE *file = fopen(path, "rb");
  if (file == NULL) return LIEDYN_FILE;
  long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  rewind(file);
  if (fgetc(file) == EOF && ferror(file)) end = -1; /* a folder has a length, and cannot be read */
  fclose(file);
  if (end < 0) return LIEDYN_FILE;
  *bytes = (size_t)end;
  return LIEDYN_OK;
}

int read_file(const char *path, void *memory, size_t bytes, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return LIEDYN_FILE;
  *length = fread(memory, 1, bytes, file);
  const int complete = !ferror(file) && fgetc(file) == EOF;
  fclose(file);
  return complete ? LIEDYN_OK : LIEDYN_FILE;
}

int liedyn_load(const char *path, void *memory, size_t bytes, const liedyn_model **model) {
  size_t length;
  if (path == NULL || memory == NULL || model == NULL) return LIEDYN_NULL;
  const int code = read_file(path, memory, bytes, &length);
  return code ? code : liedyn_open(memory, length, model);
}

/* CRC-32 of zlib, four bytes at a time: table[k] is what a byte does that k bytes follow. */
static uint32_t checksum(const unsigned char *bytes, size_t count) {
  uint32_t table[4][256], crc = 0xffffffffu;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t row = byte;
    for (int bit = 0; bit < 8; ++bit) row = (row >> 1) ^ (0xedb88320u & (0u - (row & 1u)));
    table[0][byte] = row;
  }
  for (int k = 1; k < 4; ++k) {
    for (int byte = 0; byte < 256; ++byte) {
      const uint32_t row = table[k - 1][byte];
      table[k][byte] = (row >> 8) ^ table[0][row & 255u];
    }
  }
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    crc ^= (uint32_t)bytes[i] | (uint32_t)bytes[i + 1] << 8 | (uint32_t)bytes[i + 2] << 16 |
           (uint32_t)bytes[i + 3] << 24;
    crc = table[3][crc & 255u] ^ table[2][(crc >> 8) & 255u] ^ table[1][(crc >> 16) & 255u] ^
          table[0][crc >> 24];
  }
  for (; i < count; ++i) crc = (crc >> 8) ^ table[0][(crc ^ bytes[i]) & 255u];
  return ~crc;
}

int are_texts(const void *file, const section_row *section) {
  const char *text = content_of(file, section);
  const int64_t count = section->bytes;
  int64_t ends = 0;
  for (int64_t i = 0; i < count; ++i) ends += text[i] == 0;
  return ends == section->rows && (count == 0 || text[count - 1] == 0);
}

static int are_places(const liedyn_model *model) {
  const int64_t *row = content(model, PLACES), count = model->sections[PLACES].rows;
  if (count != model->sections[JOINTS].rows || model->sections[PLACES].bytes != 32 * count) return 0;
  for (int64_t i = 0; i < count; ++i, row += 4) {
    const int64_t sizes[2] = {liedyn_nq(model), liedyn_nv(model)};
    for (int k = 0; k < 2; ++k) {
      if (row[2 * k] < 0 || row[2 * k + 1] < 0 || row[2 * k] > sizes[k]
          || row[2 * k + 1] > sizes[k] - row[2 * k]) return 0;
    }
  }
  return 1;
}

int check_file(const void *bytes, size_t count, enum kind kind, int sections) {
  if ((uintptr_t)bytes % LIEDYN_ALIGNMENT) return LIEDYN_UNALIGNED;
  const liedyn_kernels *run = kernels();
  if (run == NULL) return LIEDYN_PROCESSOR;
  const file_header *found = bytes;
  if (count < sizeof MAGIC || memcmp(bytes, MAGIC, sizeof MAGIC)) return LIEDYN_NO_MODEL;
  if (count < sizeof *found + (size_t)sections * sizeof(section_row) || count > INT32_MAX)
    return LIEDYN_DAMAGED;
  if (found->format != FORMAT) return LIEDYN_FORMAT;
  if (found->kind != (int64_t)kind) return LIEDYN_KIND;
  if (found->layout != run->layout(kind)) return LIEDYN_FORMAT;
  if (found->length != (int64_t)count || found->number_of_sections != sections
      || found->checksum != checksum((const unsigned char *)bytes + BYTES_OF_HEADER,
                                     count - BYTES_OF_HEADER)) return LIEDYN_DAMAGED;
  const section_row *row = (const section_row *)(found + 1);
  for (int i = 0; i < sections; ++i, ++row) {
    if (row->at < 0 || row->at % LIEDYN_ALIGNMENT || row->bytes < 0 || row->rows < 0
        || row->at > found->length || row->bytes > found->length - row->at) return LIEDYN_DAMAGED;
  }
  return LIEDYN_OK;
}

int is_tree(const liedyn_model *found) {
  const section_row *row = found->sections;
  const section_row *constants = row + CONSTANTS, *links = row + LINKS;
  return constants->bytes % 8 == 0 && links->bytes % 8 == 0
      && kernels()->accepts(words(found), constants->bytes / 8, constants->rows,
                            content(found, LINKS), links->bytes / 8, row[COORDINATES].rows,
                            row[FRAMES].rows) == 0
      && are_texts(found, row + JOINTS) && are_texts(found, row + COORDINATES)
      && are_texts(found, row + FRAMES) && are_places(found);
}

int liedyn_open(const void *bytes, size_t count, const liedyn_model **model) {
  if (bytes == NULL || model == NULL) return LIEDYN_NULL;
  const int code = check_file(bytes, count, TREE, SECTIONS);
  if (code) return code;
  if (!is_tree(bytes)) return LIEDYN_DAMAGED;
  *model = bytes;
  return LIEDYN_OK;
}

int liedyn_nq(const liedyn_model *model) { return (int)size_of(model, NQ); }
int liedyn_nv(const liedyn_model *model) { return (int)size_of(model, NV); }
int liedyn_bodies(const liedyn_model *model) { return (int)size_of(model, BODIES); }
int liedyn_frames(const liedyn_model *model) { return (int)model->sections[FRAMES].rows; }
int liedyn_joints(const liedyn_model *model) { return (int)model->sections[JOINTS].rows; }

const char *text_at(const void *file, const section_row *section, int index) {
  if (index < 0 || index >= section->rows) return NULL;
  const char *text = content_of(file, section);
  while (index-- > 0) text += strlen(text) + 1;
  return text;
}

int place_of(const void *file, const section_row *section, const char *name) {
  const char *text = content_of(file, section);
  for (int i = 0; i < section->rows; ++i, text += strlen(text) + 1) {
    if (strcmp(text, name) == 0) return i;
  }
  return -1;
}

const char *liedyn_joint_name(const liedyn_model *model, int joint) {
  return text_at(model, &model->sections[JOINTS], joint);
}

const char *liedyn_coordinate_name(const liedyn_model *model, int coordinate) {
  return text_at(model, &model->sections[COORDINATES], coordinate);
}

const char *liedyn_frame_name(const liedyn_model *model, int frame) {
  return text_at(model, &model->sections[FRAMES], frame);
}

int liedyn_find_joint(const liedyn_model *model, const char *name, liedyn_place *place) {
  if (model == NULL || name == NULL || place == NULL) return LIEDYN_NULL;
  const int found = place_of(model, &model->sections[JOINTS], name);
  if (found < 0) return LIEDYN_UNKNOWN;
  const int64_t *row = (const int64_t *)content(model, PLACES) + 4 * found;
  *place = (liedyn_place){(int)row[0], (int)row[1], (int)row[2], (int)row[3]};
  return LIEDYN_OK;
}

int liedyn_find_frame(const liedyn_model *model, const char *name, int *frame) {
  if (model == NULL || name == NULL || frame == NULL) return LIEDYN_NULL;
  int found = place_of(model, &model->sections[FRAMES], name);
  if (found < 0) found = place_of(model, &model->sections[JOINTS], name); /* joints and their bodies: same order */
  if (found < 0) return LIEDYN_UNKNOWN;
  *frame = found;
  return LIEDYN_OK;
}

int liedyn_neutral(const liedyn_model *model, double *q) {
  if (model == NULL || q == NULL) return LIEDYN_NULL;
  kernels()->neutral(words(model), q);
  return LIEDYN_OK;
}
