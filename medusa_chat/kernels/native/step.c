/* One pass of a llama-like decoder over the nodes of a tree: as few memory reads as there are weights, no Python.

   The threads of one team go through all layers together. Called through ctypes; the structures mirror those in
   structures.py, field by field. */
#include "attention.h"
#include "heads.h"
#include "rows.h"
#include <time.h>

enum { SILU = 0, GELU_TANH = 1 };

typedef struct {
  Linear qkv, o, gate_up, down; /* gate_up: tiles of gate and up alternate */
  const float *attention_norm, *mlp_norm;
  const float *query_norm, *key_norm; /* [head_dim] or NULL */
  int32_t window, rotary;             /* rotary: dimensions turned, 0 where a layer has no positions */
} Layer;

typedef struct {
  int32_t layers, hidden, inner, heads, kv_heads, head_dim, activation, threads;
  float eps, scale;
  const Layer *layer;
  const float *final_norm;
  Linear output;
} Model;

typedef struct {
  int32_t n, prefix, capacity, last_only;
  const int32_t *parents;      /* [n] */
  float *x;                    /* [n][hidden]: embeddings on the way in, garbage on the way out */
  const float *cosine, *sine;  /* [positions][rotary / 2] */
  float *const *keys;          /* by layer */
  float *const *values;
  float *hidden;               /* [kept][hidden] */
  float *logits;               /* [kept][vocabulary] */
  uint8_t *scratch;
  double *spent;               /* [PHASES] milliseconds are added to, or NULL */
} Pass;

enum { ROUNDING, PROJECTIONS, POSITIONS, ATTENTION, OUTPUT_LAYER, PHASES };

typedef struct {
  Rows rows;
  float *wide;     /* [n][qkv or gate_up width] */
  float *narrow;   /* [n][heads * head_dim] */
  float *scores;   /* [threads][BAND][stride] */
  int64_t stride;
  int32_t *depths; /* [n] */
  int32_t *tail;   /* as in Reach */
} Scratch;

/* Meets the team; the first thread notes how long it was since it last did, under the name of a phase. */
static void end_phase(const Team *team, const Pass *p, double *since, int phase) {
  wait_for_team(team);
  if (!p->spent || team->me) return;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double ms = 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
  if (phase < PHASES) p->spent[phase] += ms - *since;
  *since = ms;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Lays the scratch out behind `from`; returns its size in bytes. */
static int64_t lay_out(const Model *m, int n, int rows, uint8_t *from, Scratch *s) {
  int prefix = rows - n;
  int64_t most = larger(larger(m->hidden, m->inner), (int64_t)m->heads * m->head_dim), at = 0;
  int64_t wide = larger((m->heads + 2 * m->kv_heads) * m->head_dim, 2 * m->inner);
  s->stride = (rows + 2 * LANES) / LANES * LANES;
  TAKE(s->rows.values, float, n * most);
  TAKE(s->rows.bytes, int8_t, n * most);
  TAKE(s->rows.scales, float, n * most / BLOCK);
  TAKE(s->rows.sums, float, n * most / BLOCK);
  TAKE(s->wide, float, n * wide);
  TAKE(s->narrow, float, n * (int64_t)m->heads * m->head_dim);
  TAKE(s->scores, float, m->threads * BAND * s->stride);
  TAKE(s->depths, int32_t, n);
  TAKE(s->tail, int32_t, (int64_t)n * tail_rows(prefix, n));
  return at;
}

int64_t medusa_scratch_bytes(const Model *m, int32_t n, int32_t rows) {
  Scratch s;
  return lay_out(m, n, rows, NULL, &s);
}

static void read_tree(const Pass *p, Scratch *s) {
  int width = tail_rows(p->prefix, p->n), committed = p->prefix - tail_start(p->prefix);
  for (int i = 0; i < p->n; i++) {
    int parent = p->parents[i];
    int32_t *row = s->tail + (int64_t)i * width;
    s->depths[i] = parent < 0 ? 0 : s->depths[parent] + 1;
    for (int j = 0; j < width; j++) row[j] = j < committed ? -1 : 0;
    if (parent >= 0) memcpy(row, s->tail + (int64_t)parent * width, sizeof(int32_t) * (size_t)width);
    row[committed + i] = -1;
  }
}

static void turn(float *head, const float *cosine, const float *sine, int rotary) {
  int half = rotary / 2;
  for (int i = 0; i < half; i++) {
    float a = head[i], b = head[half + i];
    head[i] = a * cosine[i] - b * sine[i];
    head[half + i] = b * cosine[i] + a * sine[i];
  }
}

/* Norms and positions of one node's queries and keys; its key and value go into the cache. */
static void place(const Model *m, const Layer *layer, const Pass *p, const Reach *reach, int index, int node, float *qkv) {
  int half = layer->rotary / 2, position = p->prefix + reach->depths[node];
  for (int head = 0; head < m->heads + m->kv_heads; head++) {
    float *at = qkv + head * m->head_dim;
    const float *weight = head < m->heads ? layer->query_norm : layer->key_norm;
    if (weight) norm(at, weight, m->head_dim, m->eps, at);
    if (half) turn(at, p->cosine + (int64_t)position * half, p->sine + (int64_t)position * half, layer->rotary);
  }
  for (int kv = 0; kv < m->kv_heads; kv++) {
    const float *key = qkv + (m->heads + kv) * m->head_dim, *value = key + m->kv_heads * m->head_dim;
    put_key(reach, p->keys[index], kv, p->prefix + node, key);
    memcpy(value_row(reach, p->values[index], kv, p->prefix + node), value, sizeof(float) * (size_t)m->head_dim);
  }
}

static inline vf activate(int kind, vf gate) { return kind == SILU ? silu(gate) : gelu_tanh(gate); }

static void attention_part(const Team *team, const Model *m, int index, const Pass *p, Scratch *s, double *since) {
  const Layer *layer = &m->layer[index];
  int n = p->n, width = (m->heads + 2 * m->kv_heads) * m->head_dim, mixed = m->heads * m->head_dim, from, to;
  Reach reach = {m->heads, m->kv_heads, m->head_dim, p->capacity, n, p->prefix, layer->window, s->depths, s->tail, m->scale};
  share(team, n, &from, &to);
  for (int i = from; i < to; i++) {
    norm(p->x + (int64_t)i * m->hidden, layer->attention_norm, m->hidden, m->eps, s->rows.values + (int64_t)i * m->hidden);
    quantise(&layer->qkv, &s->rows, i);
  }
  end_phase(team, p, since, ROUNDING);
  linear(team, &layer->qkv, &s->rows, n, s->wide, 0);
  end_phase(team, p, since, PROJECTIONS);
  for (int i = from; i < to; i++) place(m, layer, p, &reach, index, i, s->wide + (int64_t)i * width);
  end_phase(team, p, since, POSITIONS);
  attend(team, &reach, s->wide, p->keys[index], p->values[index], s->narrow, s->scores + team->me * BAND * s->stride, s->stride);
  end_phase(team, p, since, ATTENTION);
  for (int i = from; i < to; i++) {
    memcpy(s->rows.values + (int64_t)i * mixed, s->narrow + (int64_t)i * mixed, sizeof(float) * (size_t)mixed);
    quantise(&layer->o, &s->rows, i);
  }
  end_phase(team, p, since, ROUNDING);
  linear(team, &layer->o, &s->rows, n, p->x, 1);
  end_phase(team, p, since, PROJECTIONS);
}

static void mlp_part(const Team *team, const Model *m, int index, const Pass *p, Scratch *s, double *since) {
  const Layer *layer = &m->layer[index];
  int n = p->n, from, to;
  share(team, n, &from, &to);
  for (int i = from; i < to; i++) {
    norm(p->x + (int64_t)i * m->hidden, layer->mlp_norm, m->hidden, m->eps, s->rows.values + (int64_t)i * m->hidden);
    quantise(&layer->gate_up, &s->rows, i);
  }
  end_phase(team, p, since, ROUNDING);
  linear(team, &layer->gate_up, &s->rows, n, s->wide, 0);
  end_phase(team, p, since, PROJECTIONS);
  for (int i = from; i < to; i++) {
    const float *both = s->wide + (int64_t)i * 2 * m->inner;
    float *out = s->rows.values + (int64_t)i * m->inner;
    for (int j = 0; j < m->inner; j += LANES, both += 2 * LANES)
      store(out + j, activate(m->activation, load(both)) * load(both + LANES));
    quantise(&layer->down, &s->rows, i);
  }
  end_phase(team, p, since, ROUNDING);
  linear(team, &layer->down, &s->rows, n, p->x, 1);
  end_phase(team, p, since, PROJECTIONS);
}

static void read_out(const Team *team, const Model *m, const Pass *p, Scratch *s, double *since) {
  int skipped = p->last_only ? p->n - 1 : 0, kept = p->n - skipped, from, to;
  share(team, kept, &from, &to);
  for (int i = from; i < to; i++) {
    float *values = s->rows.values + (int64_t)i * m->hidden;
    norm(p->x + (int64_t)(skipped + i) * m->hidden, m->final_norm, m->hidden, m->eps, values);
    memcpy(p->hidden + (int64_t)i * m->hidden, values, sizeof(float) * (size_t)m->hidden);
    quantise(&m->output, &s->rows, i);
  }
  end_phase(team, p, since, ROUNDING);
  linear(team, &m->output, &s->rows, kept, p->logits, 0);
  end_phase(team, p, since, OUTPUT_LAYER);
}

typedef struct {
  const Model *model;
  const Pass *pass;
  Scratch scratch;
} StepTask;

static void step_on(const Team *team, const void *given) {
  const StepTask *task = given;
  Scratch s = task->scratch;
  double since = 0.0;
  end_phase(team, task->pass, &since, PHASES);
  for (int index = 0; index < task->model->layers; index++) {
    attention_part(team, task->model, index, task->pass, &s, &since);
    mlp_part(team, task->model, index, task->pass, &s, &since);
  }
  read_out(team, task->model, task->pass, &s, &since);
}

/* Appends the rows of all nodes behind p->prefix; writes hidden states and logits of all nodes, or of the last. */
void medusa_step(const Model *m, const Pass *p) {
  StepTask task = {.model = m, .pass = p};
  lay_out(m, p->n, p->prefix + p->n, p->scratch, &task.scratch);
  read_tree(p, &task.scratch);
  together(m->threads, step_on, &task);
}

/* Of the trial rows behind `prefix` keeps those at `path` (rising), in that order, in every layer. */
void medusa_keep(const Model *m, float *const *keys, float *const *values, int32_t capacity, int32_t prefix,
                 const int32_t *path, int32_t count) {
  Reach reach = {m->heads, m->kv_heads, m->head_dim, capacity, 0, prefix, 0, NULL, NULL, 0.0f};
  int64_t block = (int64_t)m->head_dim * LANES;
  for (int index = 0; index < m->layers; index++)
    for (int kv = 0; kv < m->kv_heads; kv++)
      for (int i = 0; i < count; i++) {
        int from = prefix + path[i], to = prefix + i;
        if (from == to) continue;
        float *head = keys[index] + (int64_t)kv * (capacity / LANES) * block;
        const float *source = head + from / LANES * block + from % LANES;
        float *target = head + to / LANES * block + to % LANES;
        for (int d = 0; d < m->head_dim; d++) target[d * LANES] = source[d * LANES];
        memcpy(value_row(&reach, values[index], kv, to), value_row(&reach, values[index], kv, from),
               sizeof(float) * (size_t)m->head_dim);
      }
}

/* out[n][layer->out] = layer(rows); `scratch` holds 2 * n * in bytes and more: see medusa_linear_bytes. */
int64_t medusa_linear_bytes(int32_t n, int32_t in) { return (int64_t)n * (in + 64 + 2 * (int64_t)sizeof(float) * (in / BLOCK + 16)); }

typedef struct {
  const Linear *layer;
  Rows rows;
  int n;
  float *out;
} LinearTask;

static void linear_on(const Team *team, const void *given) {
  const LinearTask *task = given;
  linear(team, task->layer, &task->rows, task->n, task->out, 0);
}

void medusa_linear(const Linear *layer, float *values, int32_t n, float *out, uint8_t *scratch, int32_t threads) {
  int64_t bytes = ((int64_t)n * layer->in + 63) / 64 * 64, factors = (int64_t)n * (layer->in / BLOCK);
  Rows rows = {values, (int8_t *)scratch, (float *)(scratch + bytes), (float *)(scratch + bytes) + factors};
  for (int i = 0; i < n; i++) quantise(layer, &rows, i);
  LinearTask task = {layer, rows, n, out};
  together(threads, linear_on, &task);
}
