/* Threads that work through a step together: fixed shares of the work, a barrier between phases.

   A pool of our own instead of OpenMP's, because a step has hundreds of barriers: OpenMP's threads spin at each of them for
   milliseconds, and on a machine that does something else too they take the time from the very thread they wait for.
   Here a waiting thread soon offers its core to whoever wants it, and sleeps when no step comes. */
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

enum { MOST_THREADS = 64, SPINS = 400, YIELDS = 4000 };

typedef struct {
  _Atomic int waiting, phase;
  int size;
} Barrier;

typedef struct {
  int me, size;
  Barrier *barrier;
} Team;

typedef void Work(const Team *team, const void *task);

static struct {
  pthread_mutex_t busy, asleep; /* one step at a time; guards `turn` for those who sleep */
  pthread_cond_t wake;
  _Atomic int turn, left;
  int started, born[MOST_THREADS]; /* born: the turn that was over when the thread was made */
  Work *work;
  const void *task;
  Barrier barrier;
} pool = {.busy = PTHREAD_MUTEX_INITIALIZER, .asleep = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static inline void pause_briefly(int tries) {
  if (tries > SPINS) {
    sched_yield();
    return;
  }
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* This thread's part [from, to) of `count` equal pieces. */
static inline void share(const Team *team, int count, int *from, int *to) {
  *from = (int)((int64_t)count * team->me / team->size);
  *to = (int)((int64_t)count * (team->me + 1) / team->size);
}

static inline void wait_for_team(const Team *team) {
  Barrier *b = team->barrier;
  int phase = atomic_load_explicit(&b->phase, memory_order_relaxed);
  if (atomic_fetch_add_explicit(&b->waiting, 1, memory_order_acq_rel) + 1 == b->size) {
    atomic_store_explicit(&b->waiting, 0, memory_order_relaxed);
    atomic_store_explicit(&b->phase, phase + 1, memory_order_release);
    return;
  }
  for (int tries = 0; atomic_load_explicit(&b->phase, memory_order_acquire) == phase; tries++) pause_briefly(tries);
}

static int next_turn(int last) {
  for (int tries = 0; tries < SPINS + YIELDS; tries++) {
    int turn = atomic_load_explicit(&pool.turn, memory_order_acquire);
    if (turn != last) return turn;
    pause_briefly(tries);
  }
  pthread_mutex_lock(&pool.asleep);
  while (atomic_load_explicit(&pool.turn, memory_order_acquire) == last) pthread_cond_wait(&pool.wake, &pool.asleep);
  pthread_mutex_unlock(&pool.asleep);
  return atomic_load_explicit(&pool.turn, memory_order_acquire);
}

static void *serve(void *number) {
  int me = (int)(intptr_t)number, turn = pool.born[me];
  for (;;) {
    turn = next_turn(turn);
    if (me < pool.barrier.size) {
      Team team = {me, pool.barrier.size, &pool.barrier};
      pool.work(&team, pool.task);
    }
    atomic_fetch_sub_explicit(&pool.left, 1, memory_order_release);
  }
  return NULL;
}

/* In a forked process there is only the thread that forked. */
static void forget(void) {
  pool.started = 0;
  pthread_mutex_init(&pool.busy, NULL);
  pthread_mutex_init(&pool.asleep, NULL);
  pthread_cond_init(&pool.wake, NULL);
}

/* As many threads as asked for, or as can be had; the caller is one of them. */
static int enlist(int threads) {
  static int told = 0;
  if (!told) told = !pthread_atfork(NULL, NULL, forget);
  threads = threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads;
  while (pool.started < threads - 1) {
    pthread_t thread;
    int me = pool.started + 1;
    pool.born[me] = atomic_load(&pool.turn);
    if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)me)) break;
    pthread_detach(thread);
    pool.started = me;
  }
  return pool.started + 1 < threads ? pool.started + 1 : threads;
}

/* Calls `work` on every thread of a team and returns when all have ended. */
static void together(int threads, Work *work, const void *task) {
  pthread_mutex_lock(&pool.busy);
  pool.barrier.size = enlist(threads);
  atomic_store(&pool.barrier.waiting, 0);
  pool.work = work;
  pool.task = task;
  if (pool.barrier.size > 1) {
    atomic_store(&pool.left, pool.started);
    pthread_mutex_lock(&pool.asleep);
    atomic_fetch_add(&pool.turn, 1);
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.asleep);
  }
  Team team = {0, pool.barrier.size, &pool.barrier};
  work(&team, task);
  if (pool.barrier.size > 1)
    for (int tries = 0; atomic_load_explicit(&pool.left, memory_order_acquire); tries++) pause_briefly(tries);
  pthread_mutex_unlock(&pool.busy);
}
