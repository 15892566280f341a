/* What is done to one row at a time, between linear layers. */
#pragma once

#include "linear.h"

/* Lays `count` things of a type out behind `from`, to 64 bytes; `at` counts them. */
#define TAKE(field, type, count) field = (type *)(from + at), at += ((count) * (int64_t)sizeof(type) + 63) / 64 * 64

static void scale_to_unit(const float *x, int width, float eps, float *out) {
  vf squares = zero();
  for (int i = 0; i < width; i += LANES) squares = fma16(load(x + i), load(x + i), squares);
  float factor = 1.0f / sqrtf(sum_lanes(squares) / (float)width + eps);
  for (int i = 0; i < width; i += LANES) store(out + i, load(x + i) * factor);
}

static void norm(const float *x, const float *weight, int width, float eps, float *out) {
  scale_to_unit(x, width, eps, out);
  for (int i = 0; i < width; i += LANES) store(out + i, load(out + i) * load(weight + i));
}

static void quantise(const Linear *reader, const Rows *rows, int row) {
  if (reader->kind != FLOAT) quantise_row(rows, row, reader->in);
}

static inline vf silu(vf x) { return x / (1.0f + exp16(-x)); }

static inline vf gelu_tanh(vf x) {
  vf inner = 0.7978845608f * fma16(x * x * x, all(0.044715f), x);
  return x / (1.0f + exp16(-2.0f * inner));
}
