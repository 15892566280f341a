/* Medusa heads' guesses from one hidden state: residual blocks, a shared output layer, the best few of each head. */
#pragma once

#include "linear.h"
#include "rows.h"

enum { MOST_GUESSES = 64 };

typedef struct {
  int32_t heads, layers, hidden, reserved;
  const Linear *blocks; /* [layers][heads], all hidden -> hidden */
  Linear root;          /* hidden -> hidden, added for the root's embedding; no weights where heads do not see it */
  Linear output;
} Heads;

typedef struct {
  int32_t heads, top_k, threads, reserved;
  const float *hidden;    /* [hidden] */
  const float *embedding; /* [hidden], of the root */
  float *odds;            /* [heads][top_k], softmax over the whole output layer, falling */
  int32_t *columns;       /* [heads][top_k] */
  uint8_t *scratch;
} Guess;

typedef struct {
  Rows rows;
  float *states, *inner, *scores;
} GuessScratch;

static int64_t lay_out_guess(const Heads *m, uint8_t *from, GuessScratch *s) {
  int64_t at = 0, n = m->heads, width = m->hidden;
  TAKE(s->rows.values, float, n * width);
  TAKE(s->rows.bytes, int8_t, n * width);
  TAKE(s->rows.scales, float, n * width / BLOCK);
  TAKE(s->rows.sums, float, n * width / BLOCK);
  TAKE(s->states, float, n * width);
  TAKE(s->inner, float, n * width);
  TAKE(s->scores, float, n * (m->output.out + LANES));
  return at;
}

static Rows rows_from(const Rows *rows, int first, int in) {
  int64_t at = (int64_t)first * in, block = (int64_t)first * (in / BLOCK);
  return (Rows){rows->values + at, rows->bytes + at, rows->scales + block, rows->sums + block};
}

/* The first state of all heads: the hidden state, and what the root adds to it. */
static void first_states(const Team *team, const Heads *m, const Guess *g, GuessScratch *s) {
  if (team->me == 0) {
    memcpy(s->states, g->hidden, sizeof(float) * (size_t)m->hidden);
    if (m->root.weights) {
      scale_to_unit(g->embedding, m->hidden, 1e-6f, s->rows.values);
      quantise(&m->root, &s->rows, 0);
    }
  }
  wait_for_team(team);
  if (m->root.weights) linear(team, &m->root, &s->rows, 1, s->states, 1);
  wait_for_team(team);
  if (team->me == 0)
    for (int k = 1; k < g->heads; k++)
      memcpy(s->states + (int64_t)k * m->hidden, s->states, sizeof(float) * (size_t)m->hidden);
  wait_for_team(team);
}

/* x + SiLU(W x + b) for every head, each with its own W; the team shares the tiles of all of them. */
static void block(const Team *team, const Heads *m, const Guess *g, int layer, GuessScratch *s) {
  const Linear *blocks = m->blocks + (int64_t)layer * m->heads;
  int each = tiles(&blocks[0]), from, to, mine, end;
  share(team, g->heads, &mine, &end);
  for (int k = mine; k < end; k++) {
    memcpy(s->rows.values + (int64_t)k * m->hidden, s->states + (int64_t)k * m->hidden, sizeof(float) * (size_t)m->hidden);
    quantise(&blocks[k], &s->rows, k);
  }
  wait_for_team(team);
  share(team, g->heads * each, &from, &to);
  for (int tile = from; tile < to; tile++) {
    int k = tile / each;
    Rows row = rows_from(&s->rows, k, m->hidden);
    linear_tiles(&blocks[k], &row, 1, tile % each, tile % each + 1, s->inner + (int64_t)k * m->hidden, 0);
  }
  wait_for_team(team);
  for (int k = mine; k < end; k++)
    for (int i = 0; i < m->hidden; i += LANES) {
      float *state = s->states + (int64_t)k * m->hidden + i;
      store(state, load(state) + silu(load(s->inner + (int64_t)k * m->hidden + i)));
    }
}

/* The `count` largest of scores[n] and what softmax gives them; among equals the first. */
static void best(const float *scores, int n, int count, float *odds, int32_t *columns) {
  float top[MOST_GUESSES];
  int held = 0;
  vf most = all(-INFINITY), total = zero();
  int whole = n / LANES * LANES;
  for (int i = 0; i < whole; i += LANES) most = max16(most, load(scores + i));
  float peak = max_lanes(most);
  for (int i = whole; i < n; i++) peak = scores[i] > peak ? scores[i] : peak;
  for (int i = 0; i < whole; i += LANES) total += exp16(load(scores + i) - peak);
  float sum = sum_lanes(total);
  for (int i = whole; i < n; i++) sum += expf(scores[i] - peak);
  for (int i = 0; i < n; i++) {
    if (held == count && i % LANES == 0 && i < whole && max_lanes(load(scores + i)) <= top[held - 1]) {
      i += LANES - 1;
      continue;
    }
    if (held == count && scores[i] <= top[held - 1]) continue;
    int place = held < count ? held++ : held - 1;
    for (; place > 0 && top[place - 1] < scores[i]; place--) {
      top[place] = top[place - 1];
      columns[place] = columns[place - 1];
    }
    top[place] = scores[i];
    columns[place] = i;
  }
  for (int i = 0; i < held; i++) odds[i] = expf(top[i] - peak) / sum;
}

int64_t medusa_guess_bytes(const Heads *m) {
  GuessScratch s;
  return lay_out_guess(m, NULL, &s);
}

typedef struct {
  const Heads *heads;
  const Guess *guess;
  GuessScratch scratch;
} GuessTask;

static void guess_on(const Team *team, const void *given) {
  const GuessTask *task = given;
  const Heads *m = task->heads;
  const Guess *g = task->guess;
  GuessScratch s = task->scratch;
  int from, to;
  first_states(team, m, g, &s);
  for (int layer = 0; layer < m->layers; layer++) block(team, m, g, layer, &s);
  share(team, g->heads, &from, &to);
  for (int k = from; k < to; k++) {
    memcpy(s.rows.values + (int64_t)k * m->hidden, s.states + (int64_t)k * m->hidden, sizeof(float) * (size_t)m->hidden);
    quantise(&m->output, &s.rows, k);
  }
  wait_for_team(team);
  linear(team, &m->output, &s.rows, g->heads, s.scores, 0);
  wait_for_team(team);
  for (int k = from; k < to; k++)
    best(s.scores + (int64_t)k * m->output.out, m->output.out, g->top_k, g->odds + (int64_t)k * g->top_k,
         g->columns + (int64_t)k * g->top_k);
}

/* The best tokens of the first g->heads heads. */
void medusa_guess(const Heads *m, const Guess *g) {
  GuessTask task = {.heads = m, .guess = g};
  lay_out_guess(m, g->scratch, &task.scratch);
  together(g->threads, guess_on, &task);
}
