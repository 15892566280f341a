/* Threads that work through a step together: fixed shares of the work, a barrier between phases. */
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct { int me, size; } Team;

/* This thread's part [from, to) of `count` equal pieces. */
static inline void share(const Team *team, int count, int *from, int *to) {
  *from = (int)((int64_t)count * team->me / team->size);
  *to = (int)((int64_t)count * (team->me + 1) / team->size);
}

static inline Team whole_team(void) {
#ifdef _OPENMP
  return (Team){omp_get_thread_num(), omp_get_num_threads()};
#else
  return (Team){0, 1};
#endif
}

static inline void wait_for_team(void) {
#ifdef _OPENMP
#pragma omp barrier
#endif
}
