/* Attention of a tree's rows over the committed rows and their own ancestors.

   Keys lie [kv head][row / 16][dimension][16], so that 16 scores come from one pass over the dimensions without a
   sum across lanes; values lie [kv head][row][dimension]. Rows are always added in their order, and a row that is not
   seen adds exactly zero, so a node reads the same whatever other nodes stand beside it.

   Queries are taken in bands, and all queries of a band go through a stretch of rows while it is in the cache. */
#pragma once

#include "linear.h"

enum { QUERIES_AT_ONCE = 6, BLOCKS_AT_ONCE = 2, BAND = 24, STRETCH = 512, MOST_VECTORS = 16 };

typedef struct {
  int32_t heads, kv_heads, head_dim, capacity; /* capacity: rows, a multiple of 16 */
  int32_t n, prefix, window;                   /* window: 0 sees everything */
  const int32_t *depths;                       /* [n] */
  const int32_t *tail;                         /* [n][tail_rows]: all bits set for rows a node sees, else none */
  float scale;
} Reach;

/* The last rows, from the block in which the committed ones end, are the only ones that need a mask without a window. */
static inline int tail_start(int prefix) { return prefix / LANES * LANES; }
static inline int tail_rows(int prefix, int n) { return (prefix + n + LANES - 1) / LANES * LANES - tail_start(prefix); }

static inline int position_of(const Reach *reach, int row) {
  return row < reach->prefix ? row : reach->prefix + reach->depths[row - reach->prefix];
}

/* Scores of 16 rows from `row` on as `node` may see them. */
static inline vf seen_by(const Reach *reach, int node, int row, vf score) {
  int start = tail_start(reach->prefix);
  if (row >= start) {
    /* Chosen, not added: a row that was never written may hold anything. */
    vi seen = *(const vi_any *)(reach->tail + (int64_t)node * tail_rows(reach->prefix, reach->n) + row - start);
    score = (vf)(((vi)score & seen) | ((vi)all(-INFINITY) & ~seen));
  }
  if (!reach->window) return score;
  int position = reach->prefix + reach->depths[node], rows = reach->prefix + reach->n;
  for (int i = 0; i < LANES && row + i < rows; i++)
    if (position - position_of(reach, row + i) >= reach->window) score[i] = -INFINITY;
  return score;
}

static inline void put_key(const Reach *reach, float *keys, int kv, int row, const float *key) {
  float *to = keys + ((int64_t)kv * (reach->capacity / LANES) + row / LANES) * reach->head_dim * LANES + row % LANES;
  for (int d = 0; d < reach->head_dim; d++) to[d * LANES] = key[d];
}

static inline float *value_row(const Reach *reach, float *values, int kv, int row) {
  return values + ((int64_t)kv * reach->capacity + row) * reach->head_dim;
}

/* Queries of one key head that go through the rows together. */
typedef struct {
  int kv, count;
  const float *query[BAND];
  float *out[BAND];
  int node[BAND];
  float most[BAND], total[BAND];
  float *scores; /* [count][stride] */
  int64_t stride;
} Band;

/* Scores of Q queries for the rows of B blocks. */
static inline __attribute__((always_inline)) void score_blocks(const Reach *reach, Band *band, int first, const int Q,
                                                               const int B, const float *block, int row, vf *most) {
  vf sum[QUERIES_AT_ONCE][BLOCKS_AT_ONCE] = {{{0}}};
  int64_t size = (int64_t)reach->head_dim * LANES;
  for (int d = 0; d < reach->head_dim; d++) {
    vf key[BLOCKS_AT_ONCE];
    for (int b = 0; b < B; b++) key[b] = load(block + b * size + d * LANES);
    for (int q = 0; q < Q; q++)
      for (int b = 0; b < B; b++) sum[q][b] = fma16(key[b], all(band->query[first + q][d]), sum[q][b]);
  }
  for (int q = 0; q < Q; q++)
    for (int b = 0; b < B; b++) {
      vf score = seen_by(reach, band->node[first + q], row + b * LANES, sum[q][b] * reach->scale);
      store(band->scores + (first + q) * band->stride + row + b * LANES, score);
      most[q] = max16(most[q], score);
    }
}

static inline __attribute__((always_inline)) void score(const Reach *reach, Band *band, int first, const int Q,
                                                        const float *keys, int from, int to) {
  vf most[QUERIES_AT_ONCE];
  int64_t size = (int64_t)reach->head_dim * LANES;
  const float *block = keys + ((int64_t)band->kv * (reach->capacity / LANES) + from / LANES) * size;
  for (int q = 0; q < Q; q++) most[q] = all(band->most[first + q]);
  int row = from;
  for (; row + LANES < to; row += 2 * LANES, block += 2 * size) score_blocks(reach, band, first, Q, 2, block, row, most);
  if (row < to) score_blocks(reach, band, first, Q, 1, block, row, most);
  for (int q = 0; q < Q; q++) band->most[first + q] = max_lanes(most[q]);
}

/* From scores to the numerators of their softmax. */
static void exponents(const Reach *reach, Band *band) {
  for (int q = 0; q < band->count; q++)
    for (int row = 0; row < reach->prefix + reach->n; row += LANES) {
      float *at = band->scores + q * band->stride + row;
      vf value = load(at);
      store(at, (vf)((vi)exp16(value - band->most[q]) & (vi)(value > -INFINITY)));
    }
}

/* Adds the values of rows [from, to) to the results of Q queries. */
static inline __attribute__((always_inline)) void mix(const Reach *reach, Band *band, int first, const int Q, const int V,
                                                      const float *values, int from, int to) {
  vf sum[QUERIES_AT_ONCE][MOST_VECTORS];
  float total[QUERIES_AT_ONCE];
  const float *value = values + ((int64_t)band->kv * reach->capacity + from) * reach->head_dim;
  const float *weights = band->scores + first * band->stride;
  for (int q = 0; q < Q; q++) {
    total[q] = band->total[first + q];
    for (int v = 0; v < V; v++) sum[q][v] = load(band->out[first + q] + v * LANES);
  }
  for (int row = from; row < to; row++, value += reach->head_dim)
    for (int q = 0; q < Q; q++) {
      float weight = weights[q * band->stride + row];
      total[q] += weight;
      for (int v = 0; v < V; v++) sum[q][v] = fma16(all(weight), load(value + v * LANES), sum[q][v]);
    }
  for (int q = 0; q < Q; q++) {
    band->total[first + q] = total[q];
    for (int v = 0; v < V; v++) store(band->out[first + q] + v * LANES, sum[q][v]);
  }
}

static inline __attribute__((always_inline)) void mix_any(const Reach *reach, Band *band, int first, const int Q,
                                                          const float *values, int from, int to) {
  switch (reach->head_dim / LANES) {
    case 4: mix(reach, band, first, Q, 4, values, from, to); break;
    case 8: mix(reach, band, first, Q, 8, values, from, to); break;
    default: mix(reach, band, first, Q, reach->head_dim / LANES, values, from, to);
  }
}

/* Calls `what` with the number of queries left, up to QUERIES_AT_ONCE, as a constant. */
#define BY_QUERIES(left, what, ...)                \
  switch (left) {                                  \
    case 1: what(reach, band, first, 1, __VA_ARGS__); break; \
    case 2: what(reach, band, first, 2, __VA_ARGS__); break; \
    case 3: what(reach, band, first, 3, __VA_ARGS__); break; \
    case 4: what(reach, band, first, 4, __VA_ARGS__); break; \
    case 5: what(reach, band, first, 5, __VA_ARGS__); break; \
    default: what(reach, band, first, QUERIES_AT_ONCE, __VA_ARGS__); \
  }

static void attend_band(const Reach *reach, Band *band, const float *keys, const float *values) {
  int rows = reach->prefix + reach->n;
  for (int from = 0; from < rows; from += STRETCH) {
    int to = rows - from < STRETCH ? rows : from + STRETCH;
    for (int first = 0; first < band->count; first += QUERIES_AT_ONCE)
      BY_QUERIES(band->count - first, score, keys, from, to)
  }
  exponents(reach, band);
  for (int from = 0; from < rows; from += STRETCH) {
    int to = rows - from < STRETCH ? rows : from + STRETCH;
    for (int first = 0; first < band->count; first += QUERIES_AT_ONCE)
      BY_QUERIES(band->count - first, mix_any, values, from, to)
  }
  for (int q = 0; q < band->count; q++)
    for (int d = 0; d < reach->head_dim; d += LANES) store(band->out[q] + d, load(band->out[q] + d) / band->total[q]);
}

/* Queries of one key head, of all nodes, from `first` on. */
static void fill_band(const Reach *reach, Band *band, const float *qkv, float *out, int first) {
  int group = reach->heads / reach->kv_heads, width = (reach->heads + 2 * reach->kv_heads) * reach->head_dim;
  for (int q = 0; q < band->count; q++) {
    int head = band->kv * group + (first + q) / reach->n, node = (first + q) % reach->n;
    band->node[q] = node;
    band->query[q] = qkv + (int64_t)node * width + head * reach->head_dim;
    band->out[q] = out + ((int64_t)node * reach->heads + head) * reach->head_dim;
    band->most[q] = -INFINITY;
    band->total[q] = 0.0f;
    memset(band->out[q], 0, sizeof(float) * (size_t)reach->head_dim);
  }
}

/* The team's attention: qkv[n][(heads + 2 kv_heads) * head_dim] -> out[n][heads * head_dim].
   `scores` holds [BAND][stride], this thread's own. */
static void attend(const Team *team, const Reach *reach, const float *qkv, const float *keys, const float *values,
                   float *out, float *scores, int64_t stride) {
  int queries = reach->heads / reach->kv_heads * reach->n;
  /* Wide bands read rows less often; with some for every thread. */
  int most = (queries * reach->kv_heads + 2 * team->size - 1) / (2 * team->size);
  most = most > BAND ? BAND : most < QUERIES_AT_ONCE ? QUERIES_AT_ONCE : most;
  int bands = (queries + most - 1) / most, from, to;
  share(team, bands * reach->kv_heads, &from, &to);
  for (int item = from; item < to; item++) {
    int place = item % bands, first = (int)((int64_t)queries * place / bands);
    Band band = {.kv = item / bands, .count = (int)((int64_t)queries * (place + 1) / bands) - first, .scores = scores, .stride = stride};
    fill_band(reach, &band, qkv, out, first);
    attend_band(reach, &band, keys, values);
  }
}
