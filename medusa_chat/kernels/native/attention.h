/* Attention of a tree's rows over the committed rows and their own ancestors.

   Keys lie [kv head][row / 16][dimension][16], so that 16 scores come from one pass over the dimensions without a
   sum across lanes; values lie [kv head][row][dimension]. Rows are always added in their order, and a row that is not
   seen adds exactly zero, so a node reads the same whatever other nodes stand beside it. */
#pragma once

#include "linear.h"

enum { QUERIES_AT_ONCE = 4, MOST_VECTORS = 16 };

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

/* Scores of Q queries, then their softmax numerators; returns nothing, leaves them in scores[Q][stride]. */
static inline __attribute__((always_inline)) void weigh(const Reach *reach, const float *keys, int kv, const int Q,
                                                        const float *const *query, const int *node, float *scores,
                                                        int64_t stride) {
  int rows = reach->prefix + reach->n;
  vf most[QUERIES_AT_ONCE];
  for (int q = 0; q < Q; q++) most[q] = all(-INFINITY);
  const float *block = keys + (int64_t)kv * (reach->capacity / LANES) * reach->head_dim * LANES;
  for (int row = 0; row < rows; row += LANES, block += reach->head_dim * LANES) {
    vf sum[QUERIES_AT_ONCE] = {{0}};
    for (int d = 0; d < reach->head_dim; d++) {
      vf key = load(block + d * LANES);
      for (int q = 0; q < Q; q++) sum[q] = fma16(key, all(query[q][d]), sum[q]);
    }
    for (int q = 0; q < Q; q++) {
      vf score = seen_by(reach, node[q], row, sum[q] * reach->scale);
      store(scores + q * stride + row, score);
      most[q] = max16(most[q], score);
    }
  }
  for (int q = 0; q < Q; q++) {
    vf top = all(max_lanes(most[q]));
    for (int row = 0; row < rows; row += LANES) {
      vf score = load(scores + q * stride + row), seen = score - top;
      vf share = exp16(seen);
      store(scores + q * stride + row, (vf)((vi)share & (vi)(score > -INFINITY)));
    }
  }
}

static inline __attribute__((always_inline)) void mix(const Reach *reach, const float *values, int kv, const int Q,
                                                      const int V, const float *scores, int64_t stride,
                                                      float *const *out) {
  vf sum[QUERIES_AT_ONCE][MOST_VECTORS] = {{{0}}};
  float total[QUERIES_AT_ONCE] = {0};
  const float *value = values + (int64_t)kv * reach->capacity * reach->head_dim;
  for (int row = 0; row < reach->prefix + reach->n; row++, value += reach->head_dim) {
    for (int q = 0; q < Q; q++) {
      float weight = scores[q * stride + row];
      total[q] += weight;
      for (int v = 0; v < V; v++) sum[q][v] = fma16(all(weight), load(value + v * LANES), sum[q][v]);
    }
  }
  for (int q = 0; q < Q; q++)
    for (int v = 0; v < V; v++) store(out[q] + v * LANES, sum[q][v] / total[q]);
}

static inline __attribute__((always_inline)) void attend_some(const Reach *reach, const float *keys,
                                                              const float *values, int kv, const int Q,
                                                              const float *const *query, const int *node,
                                                              float *const *out, float *scores, int64_t stride) {
  weigh(reach, keys, kv, Q, query, node, scores, stride);
  switch (reach->head_dim / LANES) {
    case 4: mix(reach, values, kv, Q, 4, scores, stride, out); break;
    case 8: mix(reach, values, kv, Q, 8, scores, stride, out); break;
    default: mix(reach, values, kv, Q, reach->head_dim / LANES, scores, stride, out);
  }
}

/* The team's attention: qkv[n][(heads + 2 kv_heads) * head_dim] -> out[n][heads * head_dim].
   The queries of one key head, of all nodes, are cut into pieces that the threads share. */
static void attend(const Team *team, const Reach *reach, const float *qkv, const float *keys, const float *values,
                   float *out, float *scores, int64_t stride) {
  int group = reach->heads / reach->kv_heads, queries = group * reach->n;
  int width = (reach->heads + 2 * reach->kv_heads) * reach->head_dim;
  /* Few queries in large pieces would leave threads idle; the result is the same either way. */
  int piece = queries * reach->kv_heads >= 4 * QUERIES_AT_ONCE * team->size ? QUERIES_AT_ONCE : 1;
  int pieces = (queries + piece - 1) / piece, from, to;
  share(team, pieces * reach->kv_heads, &from, &to);
  for (int item = from; item < to; item++) {
    int kv = item / pieces, first = item % pieces * piece, count = queries - first < piece ? queries - first : piece;
    const float *query[QUERIES_AT_ONCE];
    float *result[QUERIES_AT_ONCE];
    int node[QUERIES_AT_ONCE];
    for (int q = 0; q < count; q++) {
      int head = kv * group + (first + q) / reach->n;
      node[q] = (first + q) % reach->n;
      query[q] = qkv + (int64_t)node[q] * width + head * reach->head_dim;
      result[q] = out + ((int64_t)node[q] * reach->heads + head) * reach->head_dim;
    }
    switch (count) {
      case 1: attend_some(reach, keys, values, kv, 1, query, node, result, scores, stride); break;
      case 2: attend_some(reach, keys, values, kv, 2, query, node, result, scores, stride); break;
      case 3: attend_some(reach, keys, values, kv, 3, query, node, result, scores, stride); break;
      default: attend_some(reach, keys, values, kv, 4, query, node, result, scores, stride);
    }
  }
}
