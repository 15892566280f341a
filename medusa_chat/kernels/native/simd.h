/* Sixteen lanes at a time, on whatever the CPU has.

   Floats use the compiler's own vector types, which it splits into what the machine offers. Only what those cannot
   say is written per instruction set: fused multiply-add, the dot product of bytes, half-precision loads.
   Everything is compiled without contraction or reordering, so a row's result never depends on which loop, unrolled
   how far, computed it. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define LANES 16
typedef float vf __attribute__((vector_size(64)));
typedef int32_t vi __attribute__((vector_size(64)));
typedef uint8_t vb __attribute__((vector_size(64)));
typedef float vf_any __attribute__((vector_size(64), aligned(4)));
typedef int32_t vi_any __attribute__((vector_size(64), aligned(4)));
typedef int8_t bytes16 __attribute__((vector_size(16)));

static inline vf load(const float *from) { return *(const vf_any *)from; }
static inline void store(float *to, vf value) { *(vf_any *)to = value; }
static inline vf all(float value) { return value - (vf){0}; }
static inline vf zero(void) { return (vf){0}; }

/* a * b + c, rounded once where the machine can. */
static inline vf fma16(vf a, vf b, vf c) {
#if defined(__AVX512F__)
  return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
  union { vf all; __m256 half[2]; } x = {a}, y = {b}, z = {c};
  for (int i = 0; i < 2; i++) z.half[i] = _mm256_fmadd_ps(x.half[i], y.half[i], z.half[i]);
  return z.all;
#else
  return a * b + c;
#endif
}

static inline vf max16(vf a, vf b) {
#if defined(__AVX512F__)
  return (vf)_mm512_max_ps((__m512)a, (__m512)b);
#else
  vi larger = a > b;
  return (vf)(((vi)a & larger) | ((vi)b & ~larger));
#endif
}

static inline vf abs16(vf a) { return (vf)((vi)a & 0x7fffffff); }

/* All lanes onto one, always in the same order. */
#define SHUFFLED(v, ...) __builtin_shufflevector(v, v, __VA_ARGS__)
#define FOLD(v, onto)                                                              \
  v = onto(v, SHUFFLED(v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)); \
  v = onto(v, SHUFFLED(v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)); \
  v = onto(v, SHUFFLED(v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)); \
  v = onto(v, SHUFFLED(v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14))

static inline vf add16(vf a, vf b) { return a + b; }

static inline float sum_lanes(vf v) {
  FOLD(v, add16);
  return v[0];
}

static inline float max_lanes(vf v) {
  FOLD(v, max16);
  return v[0];
}

/* To the nearest whole number, ties to even; |value| < 2^22. */
static inline vf round16(vf value) {
  const float magic = 12582912.0f;
  return (value + magic) - magic;
}

/* e^x to about one unit in the last place; arguments are clamped to what float32 can hold. */
static inline vf exp16(vf x) {
  x = max16(x, all(-87.3f));
  x = -max16(-x, all(-88.3f));
  vf whole = round16(x * 1.44269504f);
  vf rest = fma16(whole, all(-0.693359375f), x);
  rest = fma16(whole, all(2.12194440e-4f), rest);
  vf y = all(1.9875691500e-4f);
  y = fma16(y, rest, all(1.3981999507e-3f));
  y = fma16(y, rest, all(8.3334519073e-3f));
  y = fma16(y, rest, all(4.1665795894e-2f));
  y = fma16(y, rest, all(1.6666665459e-1f));
  y = fma16(y, rest, all(5.0000001201e-1f));
  y = fma16(y, rest * rest, rest + 1.0f);
  vi power = (__builtin_convertvector(whole, vi) + 127) << 23;
  return y * (vf)power;
}

/* 16 half-precision numbers. */
static inline vf load_half(const uint16_t *from) {
#if defined(__AVX512F__)
  return (vf)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
#elif defined(__F16C__)
  union { vf all; __m256 half[2]; } x;
  for (int i = 0; i < 2; i++) x.half[i] = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from + i));
  return x.all;
#else
  float x[LANES];
  for (int i = 0; i < LANES; i++) {
    uint32_t sign = (uint32_t)(from[i] & 0x8000) << 16, exponent = from[i] >> 10 & 31, fraction = from[i] & 1023;
    uint32_t bits = sign | (exponent + 112) << 23 | fraction << 13;
    if (exponent == 0) {
      x[i] = (sign ? -1.0f : 1.0f) * (float)fraction * 5.9604644775390625e-8f;
    } else {
      memcpy(&x[i], &bits, 4);
    }
  }
  return load(x);
#endif
}

/* In each lane: acc + the dot product of 4 unsigned bytes of w with the 4 signed bytes of x. Exact. */
static inline vi dot4(vi acc, vb w, int32_t x) {
#if defined(__AVX512VNNI__)
  return (vi)_mm512_dpbusd_epi32((__m512i)acc, (__m512i)w, _mm512_set1_epi32(x));
#elif defined(__AVX2__)
  union { vi all; __m256i half[2]; } sum = {acc};
  union { vb all; __m256i half[2]; } weights = {w};
  const __m256i nibble = _mm256_set1_epi8(15), factors = _mm256_set1_epi32(x);
  for (int i = 0; i < 2; i++) {
    /* Pairs of products of whole bytes would overflow 16 bits; those of nibbles do not. */
    __m256i low = _mm256_and_si256(weights.half[i], nibble);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(weights.half[i], 4), nibble);
    low = _mm256_madd_epi16(_mm256_maddubs_epi16(low, factors), _mm256_set1_epi16(1));
    high = _mm256_madd_epi16(_mm256_maddubs_epi16(high, factors), _mm256_set1_epi16(16));
    sum.half[i] = _mm256_add_epi32(sum.half[i], _mm256_add_epi32(low, high));
  }
  return sum.all;
#else
  int8_t factors[4];
  memcpy(factors, &x, 4);
  for (int lane = 0; lane < LANES; lane++)
    for (int i = 0; i < 4; i++) acc[lane] += (int32_t)w[4 * lane + i] * factors[i];
  return acc;
#endif
}

/* The same for bytes below 16. */
static inline vi dot4_nibbles(vi acc, vb w, int32_t x) {
#if defined(__AVX2__) && !defined(__AVX512VNNI__)
  union { vi all; __m256i half[2]; } sum = {acc};
  union { vb all; __m256i half[2]; } weights = {w};
  for (int i = 0; i < 2; i++) {
    __m256i pairs = _mm256_maddubs_epi16(weights.half[i], _mm256_set1_epi32(x));
    sum.half[i] = _mm256_add_epi32(sum.half[i], _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  return sum.all;
#else
  return dot4(acc, w, x);
#endif
}
