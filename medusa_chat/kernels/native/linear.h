/* Linear layers for few rows. Weights lie in tiles of 16 outputs, each tile in blocks of 32 inputs.

   FLOAT  [input][16] float32.
   INT8   u in 0..255, w = d * (u - 128); d is one half-precision number per output and block.
   INT4   u in 0..15,  w = d * u + m; d and m likewise.
   Activations of the integer kinds are rounded to 8 bits per row and block of 32, so a row's result depends on that
   row alone. Byte products are summed exactly in 32-bit integers; blocks are added in float32, in order. */
#pragma once

#include "simd.h"
#include "team.h"

enum { FLOAT = 0, INT8 = 1, INT4 = 2 };
enum { BLOCK = 32, QUADS = BLOCK / 4, ROWS_AT_ONCE = 12 };
/* Bytes to ask for before they are needed. The hardware's own guess comes too late once several rows share each weight:
   8 rows of float32 took 17 ms instead of 12 without this. */
enum { AHEAD = 8192 };

typedef struct {
  int32_t kind, in, out, reserved;
  const uint8_t *weights;
  const float *bias; /* [out rounded up to 16] or NULL */
} Linear;

/* Rows as a linear layer reads them: as they are, and in 8 bits. */
typedef struct {
  float *values;  /* [n][in] */
  int8_t *bytes;  /* [n][in] */
  float *scales;  /* [n][in / 32] */
  float *sums;    /* [n][in / 32], of the bytes of each block */
} Rows;

static inline int tiles(const Linear *layer) { return (layer->out + LANES - 1) / LANES; }

static inline int64_t tile_bytes(int kind, int in) {
  int64_t blocks = in / BLOCK;
  if (kind == FLOAT) return (int64_t)in * LANES * 4;
  int64_t numbers = kind == INT8 ? blocks * BLOCK * LANES : blocks * BLOCK * LANES / 2;
  int64_t factors = blocks * LANES * 2 * (kind == INT8 ? 1 : 2);
  return numbers + (factors + 63) / 64 * 64;
}

static void quantise_row(const Rows *rows, int row, int in) {
  const float *values = rows->values + (int64_t)row * in;
  int8_t *bytes = rows->bytes + (int64_t)row * in;
  int blocks = in / BLOCK;
  for (int b = 0; b < blocks; b++) {
    vf low = load(values + b * BLOCK), high = load(values + b * BLOCK + LANES);
    float scale = max_lanes(max16(abs16(low), abs16(high))) / 127.0f;
    float inverse = scale > 0.0f ? 1.0f / scale : 0.0f;
    low = round16(low * inverse);
    high = round16(high * inverse);
    *(bytes16 *)(bytes + b * BLOCK) = __builtin_convertvector(__builtin_convertvector(low, vi), bytes16);
    *(bytes16 *)(bytes + b * BLOCK + LANES) = __builtin_convertvector(__builtin_convertvector(high, vi), bytes16);
    rows->scales[(int64_t)row * blocks + b] = scale;
    rows->sums[(int64_t)row * blocks + b] = sum_lanes(low + high);
  }
}

/* One tile of outputs for `R` rows. R is a constant wherever this is inlined, so sums live in registers. */
static inline __attribute__((always_inline)) void float_tile(const Linear *layer, const uint8_t *tile, const Rows *rows,
                                                             int first, const int R, vf *sum) {
  const float *x = rows->values + (int64_t)first * layer->in;
  for (int k = 0; k < layer->in; k++) {
    vf w = load((const float *)tile + (int64_t)k * LANES);
    __builtin_prefetch(tile + (int64_t)k * LANES * 4 + AHEAD);
    for (int r = 0; r < R; r++) sum[r] = fma16(w, all(x[(int64_t)r * layer->in + k]), sum[r]);
  }
}

static inline __attribute__((always_inline)) void byte_tile(const Linear *layer, const uint8_t *tile, const Rows *rows,
                                                            int first, const int R, const int kind, vf *sum) {
  int blocks = layer->in / BLOCK;
  const int8_t *x = rows->bytes + (int64_t)first * layer->in;
  const float *scales = rows->scales + (int64_t)first * blocks, *sums = rows->sums + (int64_t)first * blocks;
  const int bytes = kind == INT8 ? BLOCK * LANES : BLOCK * LANES / 2;
  const uint16_t *factors = (const uint16_t *)(tile + (int64_t)blocks * bytes);
  for (int b = 0; b < blocks; b++) {
    const vb *w = (const vb *)(tile + (int64_t)b * bytes);
    for (int line = 0; line < bytes; line += 64) __builtin_prefetch((const uint8_t *)w + AHEAD + line);
    vi whole[ROWS_AT_ONCE] = {{0}};
    for (int q = 0; q < QUADS; q++) {
      vb weights = kind == INT8 ? w[q] : q < QUADS / 2 ? w[q] & 15 : w[q - QUADS / 2] >> 4;
      for (int r = 0; r < R; r++) {
        int32_t four;
        memcpy(&four, x + (int64_t)r * layer->in + b * BLOCK + 4 * q, 4);
        whole[r] = kind == INT8 ? dot4(whole[r], weights, four) : dot4_nibbles(whole[r], weights, four);
      }
    }
    vf d = load_half(factors + (int64_t)b * LANES * (kind == INT8 ? 1 : 2));
    vf m = kind == INT8 ? d * -128.0f : load_half(factors + (int64_t)b * LANES * 2 + LANES);
    for (int r = 0; r < R; r++) {
      vf part = fma16(d, __builtin_convertvector(whole[r], vf), m * sums[(int64_t)r * blocks + b]);
      sum[r] = fma16(part, all(scales[(int64_t)r * blocks + b]), sum[r]);
    }
  }
}

static inline __attribute__((always_inline)) void put_tile(const Linear *layer, int tile, int first, const int R,
                                                           const vf *sum, float *out, int add) {
  int from = tile * LANES, count = layer->out - from < LANES ? layer->out - from : LANES;
  for (int r = 0; r < R; r++) {
    float *to = out + (int64_t)(first + r) * layer->out + from;
    vf value = layer->bias ? sum[r] + load(layer->bias + from) : sum[r];
    if (count == LANES) {
      store(to, add ? load(to) + value : value);
    } else {
      for (int i = 0; i < count; i++) to[i] = add ? to[i] + value[i] : value[i];
    }
  }
}

static inline __attribute__((always_inline)) void tile_rows(const Linear *layer, int tile, const Rows *rows, int first,
                                                            const int R, float *out, int add) {
  const uint8_t *weights = layer->weights + tile * tile_bytes(layer->kind, layer->in);
  vf sum[ROWS_AT_ONCE] = {{0}};
  if (layer->kind == FLOAT) float_tile(layer, weights, rows, first, R, sum);
  else if (layer->kind == INT8) byte_tile(layer, weights, rows, first, R, INT8, sum);
  else byte_tile(layer, weights, rows, first, R, INT4, sum);
  put_tile(layer, tile, first, R, sum, out, add);
}

/* Tiles [from, to) of out[n][layer->out] = rows * weights + bias; with `add` onto what is there. */
static void linear_tiles(const Linear *layer, const Rows *rows, int n, int from, int to, float *out, int add) {
  for (int tile = from; tile < to; tile++) {
    for (int first = 0; first < n; first += ROWS_AT_ONCE) {
      switch (n - first) {
        case 1: tile_rows(layer, tile, rows, first, 1, out, add); break;
        case 2: tile_rows(layer, tile, rows, first, 2, out, add); break;
        case 3: tile_rows(layer, tile, rows, first, 3, out, add); break;
        case 4: tile_rows(layer, tile, rows, first, 4, out, add); break;
        case 5: tile_rows(layer, tile, rows, first, 5, out, add); break;
        case 6: tile_rows(layer, tile, rows, first, 6, out, add); break;
        case 7: tile_rows(layer, tile, rows, first, 7, out, add); break;
        case 8: tile_rows(layer, tile, rows, first, 8, out, add); break;
        case 9: tile_rows(layer, tile, rows, first, 9, out, add); break;
        case 10: tile_rows(layer, tile, rows, first, 10, out, add); break;
        case 11: tile_rows(layer, tile, rows, first, 11, out, add); break;
        default: tile_rows(layer, tile, rows, first, ROWS_AT_ONCE, out, add);
      }
    }
  }
}

/* The team's whole layer; the caller waits for the team before and after. */
static void linear(const Team *team, const Linear *layer, const Rows *rows, int n, float *out, int add) {
  int from, to;
  share(team, tiles(layer), &from, &to);
  linear_tiles(layer, rows, n, from, to, out, add);
}
