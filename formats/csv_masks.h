/*
 * formats/csv_masks.h
 *
 * Where the bytes that matter to csv stand in 64 bytes: one bit a byte, the lowest for the first.
 */
#ifndef RH_FORMATS_CSV_MASKS_H
#define RH_FORMATS_CSV_MASKS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { RH_CSV_BLOCK = 64 };

struct rh_csv_masks {
    uint64_t quote;
    uint64_t comma;
    uint64_t feed;
    uint64_t nul;
};

#if defined(__SSE2__)

#include <immintrin.h>

static inline __attribute__((always_inline)) uint64_t rh_csv_mask_sse2(const __m128i v[4], char c)
{
    const __m128i want = _mm_set1_epi8(c);
    uint64_t m0 = (uint32_t) _mm_movemask_epi8(_mm_cmpeq_epi8(v[0], want));
    uint64_t m1 = (uint32_t) _mm_movemask_epi8(_mm_cmpeq_epi8(v[1], want));
    uint64_t m2 = (uint32_t) _mm_movemask_epi8(_mm_cmpeq_epi8(v[2], want));
    uint64_t m3 = (uint32_t) _mm_movemask_epi8(_mm_cmpeq_epi8(v[3], want));
    return m0 | m1 << 16 | m2 << 32 | m3 << 48;
}

static inline void rh_csv_masks_make(const char *p, struct rh_csv_masks *m)
{
    __m128i v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = _mm_loadu_si128((const __m128i *) (const void *) (p + 16 * i));
    }
    m->quote = rh_csv_mask_sse2(v, '"');
    m->comma = rh_csv_mask_sse2(v, ',');
    m->feed = rh_csv_mask_sse2(v, '\n');
    m->nul = rh_csv_mask_sse2(v, '\0');
}

#else

/* The eight bytes of a word that equal `byte`, as eight bits. */
static inline uint64_t rh_csv_mask_word(uint64_t word, unsigned char byte)
{
    uint64_t x = word ^ (UINT64_C(0x0101010101010101) * byte);
    uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t zero = ~(((x & low7) + low7) | x | low7); /* 0x80 in each byte that is zero */
    return (zero * UINT64_C(0x0002040810204081)) >> 56;
}

static inline void rh_csv_masks_make(const char *p, struct rh_csv_masks *m)
{
    memset(m, 0, sizeof *m);
    for (unsigned i = 0; i < RH_CSV_BLOCK / 8; i++) {
        uint64_t word = 0;
        for (unsigned j = 0; j < 8; j++) {
            word |= (uint64_t) (unsigned char) p[8 * i + j] << (8 * j);
        }
        m->quote |= rh_csv_mask_word(word, '"') << (8 * i);
        m->comma |= rh_csv_mask_word(word, ',') << (8 * i);
        m->feed |= rh_csv_mask_word(word, '\n') << (8 * i);
        m->nul |= rh_csv_mask_word(word, '\0') << (8 * i);
    }
}

#endif

#if defined(__x86_64__)

#define RH_CSV_TARGET_AVX2 __attribute__((target("avx2,bmi,popcnt,pclmul")))

/* Only where rh_csv_has_avx2(). */
static inline bool rh_csv_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("pclmul");
}

static inline RH_CSV_TARGET_AVX2 uint64_t rh_csv_mask_avx2(__m256i a, __m256i b, char c)
{
    const __m256i want = _mm256_set1_epi8(c);
    uint64_t low = (uint32_t) _mm256_movemask_epi8(_mm256_cmpeq_epi8(a, want));
    uint64_t high = (uint32_t) _mm256_movemask_epi8(_mm256_cmpeq_epi8(b, want));
    return low | high << 32;
}

static inline RH_CSV_TARGET_AVX2 void rh_csv_masks_make_avx2(const char *p, struct rh_csv_masks *m)
{
    const __m256i a = _mm256_loadu_si256((const __m256i *) (const void *) p);
    const __m256i b = _mm256_loadu_si256((const __m256i *) (const void *) (p + 32));
    m->quote = rh_csv_mask_avx2(a, b, '"');
    m->comma = rh_csv_mask_avx2(a, b, ',');
    m->feed = rh_csv_mask_avx2(a, b, '\n');
    m->nul = 0;
    const __m256i zero = _mm256_setzero_si256();
    if (__builtin_expect(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(a, b), zero)), 0)) {
        m->nul = rh_csv_mask_avx2(a, b, '\0');
    }
}

/* rh_csv_parity() by a product without carries. */
static inline RH_CSV_TARGET_AVX2 uint64_t rh_csv_parity_avx2(uint64_t x)
{
    const __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, (long long) x), _mm_set1_epi8((char) 0xff), 0);
    return (uint64_t) _mm_cvtsi128_si64(product);
}

/* The lowest bit's number; of 0 any number. */
static inline RH_CSV_TARGET_AVX2 uint32_t rh_csv_lowest_avx2(uint64_t x)
{
    return (uint32_t) _tzcnt_u64(x);
}

#else

static inline bool rh_csv_has_avx2(void)
{
    return false;
}

#endif

/* Each bit becomes the parity of itself and all lower ones. */
static inline uint64_t rh_csv_parity(uint64_t x)
{
    x ^= x << 1;
    x ^= x << 2;
    x ^= x << 4;
    x ^= x << 8;
    x ^= x << 16;
    x ^= x << 32;
    return x;
}

/* The lowest bit's number; of 0 any number. */
static inline uint32_t rh_csv_lowest(uint64_t x)
{
    return (uint32_t) __builtin_ctzll(x | UINT64_C(1) << 63);
}

/* Bits 0 .. last. */
static inline uint64_t rh_csv_bits_through(unsigned last)
{
    return ~UINT64_C(0) >> (63 - last);
}

#endif
