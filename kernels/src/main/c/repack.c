// Moves rows of a model file into panels, which interleave the words of 32 rows. Contains the native methods of
// NativeRepacking.java, whose caller checks sizes. TensorType.java describes the layouts of rows; CodeForm.java and
// BlockScales.java describe the layouts of panels.
#include "bytes.h"
#include "kernels.h"

#include <float.h>
#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// The order is the same as in TensorType.java.
enum type { F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS, MXFP4, INT4,
            INT8, FP8 };

enum { ROWS = 4 };

// The targets of the first of some rows.
struct target {
    int32_t *codes;
    void *scales;
    uint16_t *units;
};

// 32 columns of a row: codes as bytes, or as nibbles in the first vector.
struct columns {
    bytes first, second;
};

static inline uint16_t half_at(const uint8_t *p) {
    uint16_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static inline uint32_t word_at(const uint8_t *p) {
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static inline bytes bytes_at(const uint8_t *p) {
    bytes value;
    memcpy(&value, p, sizeof value);
    return value;
}

static inline bytes low_nibbles(bytes b) {
    return b & 15;
}

static inline bytes high_nibbles(bytes b) {
    return low_nibbles((bytes)((shorts)b >> 4));
}

static inline struct columns split_nibbles(bytes pairs) {
    return (struct columns){low_nibbles(pairs), high_nibbles(pairs)};
}

static inline bytes join_nibbles(bytes low, bytes high) {
    return low | (bytes)((shorts)high << 4);
}

// Moves the bits of each byte from bit `from` to bit `to`; mask selects them after the shift.
static inline bytes some_bits(bytes b, int mask, int from, int to) {
    return (bytes)((shorts)((bytes)((shorts)b >> from) & (uint8_t)mask) << to);
}

// Expands 16 bits to bytes of 0 or `value`.
static inline bytes spread_bits(uint32_t bits, int value) {
    const bytes places = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    const bytes masks = (bytes)((longs){0} + 0x8040201008040201);
    bytes set = look_up((bytes)(words){bits}, places) & masks;
    return (bytes)(set == masks) & (uint8_t)value;
}

static inline struct columns with_fifth_bits(struct columns c, uint32_t bits, int less) {
    c.first = (c.first | spread_bits(bits, 16)) - (uint8_t)less;
    c.second = (c.second | spread_bits(bits >> 16, 16)) - (uint8_t)less;
    return c;
}

static inline struct columns by_table(bytes pairs, bytes table) {
    return (struct columns){look_up(table, low_nibbles(pairs)), look_up(table, high_nibbles(pairs))};
}

static inline struct columns q2k(const uint8_t *p, int sub) {
    const uint8_t *pairs = p + 16 + sub / 4 * 32;
    int from = sub % 4 * 2;
    return (struct columns){some_bits(bytes_at(pairs), 3, from, 0), some_bits(bytes_at(pairs + 16), 3, from, 0)};
}

static inline bytes q3k(const uint8_t *third, const uint8_t *pairs, int sub) {
    bytes high = some_bits(bytes_at(third), 1, sub, 2);
    return (some_bits(bytes_at(pairs), 3, sub % 4 * 2, 0) | high) - 4;
}

static inline bytes nibbles_of_k(const uint8_t *p, int sub) {
    return sub % 2 ? high_nibbles(bytes_at(p + sub / 2 * 32)) : low_nibbles(bytes_at(p + sub / 2 * 32));
}

static inline bytes q5k(const uint8_t *fifth, const uint8_t *nibbles, int sub) {
    return nibbles_of_k(nibbles, sub) | some_bits(bytes_at(fifth), 1, sub, 4);
}

static inline bytes q6k(const uint8_t *low, const uint8_t *high, int sub) {
    bytes nibbles = sub % 4 / 2 ? high_nibbles(bytes_at(low)) : low_nibbles(bytes_at(low));
    return (nibbles | some_bits(bytes_at(high), 3, sub % 4 * 2, 4)) - 32;
}

// The codes of 32 columns of a block; `sub` is the sub-block if a block has several.
static inline __attribute__((always_inline)) struct columns codes_of(enum type type, const uint8_t *p, int sub) {
    const bytes iq4 = (bytes)(signed_bytes){-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    const bytes fp4 = (bytes)(signed_bytes){0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    const bytes none = {0};
    switch (type) {
    case Q4_0:
        return (struct columns){bytes_at(p + 2) ^ 0x88, none};
    case Q4_1:
        return (struct columns){bytes_at(p + 4), none};
    case INT4:
        return (struct columns){bytes_at(p + 8), none};
    case Q4_K:
        // of 64 columns, the first half is in the low nibbles and the second half in the high nibbles
        return (struct columns){join_nibbles(nibbles_of_k(p + 16, sub), nibbles_of_k(p + 32, sub)), none};
    case Q5_0:
        return with_fifth_bits(split_nibbles(bytes_at(p + 6)), word_at(p + 2), 16);
    case Q5_1:
        return with_fifth_bits(split_nibbles(bytes_at(p + 8)), word_at(p + 4), 0);
    case Q5_K:
        return (struct columns){q5k(p + 16, p + 48, sub), q5k(p + 32, p + 64, sub)};
    case Q2_K:
        return q2k(p, sub);
    case Q3_K: {
        const uint8_t *pairs = p + 32 + sub / 4 * 32;
        return (struct columns){q3k(p, pairs, sub), q3k(p + 16, pairs + 16, sub)};
    }
    case Q6_K: {
        const uint8_t *low = p + sub / 4 * 64 + sub % 2 * 32, *high = p + 128 + sub / 4 * 32;
        return (struct columns){q6k(low, high, sub), q6k(low + 16, high + 16, sub)};
    }
    case Q8_0:
        return (struct columns){bytes_at(p + 2), bytes_at(p + 18)};
    case INT8:
        return (struct columns){bytes_at(p + 4), bytes_at(p + 20)};
    case IQ4_NL:
        return by_table(bytes_at(p + 2), iq4);
    case IQ4_XS:
        return by_table(bytes_at(p + 8 + sub * 16), iq4);
    default:
        return by_table(bytes_at(p + 1), fp4);
    }
}

// Writes word w of rows 0 to 3 to at[w * PANEL ...], but only the first `count` rows.
static inline void put_words(const bytes rows[ROWS], int count, int32_t *at) {
    bytes a = zip_low_32(rows[0], rows[1]), b = zip_high_32(rows[0], rows[1]);
    bytes c = zip_low_32(rows[2], rows[3]), d = zip_high_32(rows[2], rows[3]);
    bytes four[] = {zip_low_64(a, c), zip_high_64(a, c), zip_low_64(b, d), zip_high_64(b, d)};
    for (int w = 0; w < 4; w++) {
        if (count == ROWS) {
            memcpy(at + w * PANEL, &four[w], sizeof four[w]);
        } else {
            memcpy(at + w * PANEL, &four[w], (size_t)count * sizeof *at);
        }
    }
}

// The two highest bits of 16 codes of 6 bits, in the order of CodeForm.SIX.
static inline int32_t highest_bits(bytes codes) {
    shorts placed = add_pairs(some_bits(codes, 3, 4, 0)) * (shorts){1, 1, 16, 16, 256, 256, 4096, 4096};
    uint64_t both = ((longs)placed)[0] | ((longs)placed)[1];
    return (int32_t)(both | both >> 32);
}

static inline __attribute__((always_inline)) enum code_kind form_of(enum type type) {
    switch (type) {
    case Q4_0:
        return CODE_SIGNED_NIBBLE;
    case Q4_1:
    case Q4_K:
    case INT4:
        return CODE_NIBBLE;
    case Q8_0:
    case IQ4_NL:
    case INT8:
    case MXFP4:
    case IQ4_XS:
        return CODE_BYTE;
    default:
        return CODE_SIX;
    }
}

static inline __attribute__((always_inline)) int words_of(enum code_kind form) {
    return form == CODE_BYTE ? 8 : form == CODE_SIX ? 6 : 4;
}

static inline __attribute__((always_inline)) int32_t *put_codes(
    enum type type, const uint8_t *const p[ROWS], int sub, int count, int32_t *at) {
    enum code_kind form = form_of(type);
    bytes first[ROWS], second[ROWS];
    for (int i = 0; i < ROWS; i++) {
        struct columns c = codes_of(type, p[i], sub);
        first[i] = c.first;
        second[i] = c.second;
        if (form == CODE_SIX) {
            first[i] = join_nibbles(low_nibbles(c.first), low_nibbles(c.second));
            if (i < count) {
                at[4 * PANEL + i] = highest_bits(c.first);
                at[5 * PANEL + i] = highest_bits(c.second);
            }
        }
    }
    put_words(first, count, at);
    if (form == CODE_BYTE) {
        put_words(second, count, at + 4 * PANEL);
    }
    return at + words_of(form) * PANEL;
}

static inline bool finite_half(uint16_t value) {
    return (value & 0x7c00) != 0x7c00;
}

static inline bool finite_scale(float value) {
    const float most = 3.4028234663852886e38f / 512;
    return value <= most && value >= -most;
}

static inline float float_at(const uint8_t *p) {
    float value;
    memcpy(&value, p, sizeof value);
    return value;
}

// Returns 2 to the power of e - 128.
static inline float half_of_power(int e) {
    uint32_t bits = e >= 2 ? (uint32_t)(e - 1) << 23 : 0x00200000u << e;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Reads the scale (part 0) or minimum (part 4) of a sub-block from 12 bytes.
static inline int six_bits(const uint8_t *p, int sub, int part) {
    return sub < 4 ? p[part + sub] & 63 : (p[4 + sub] >> part & 15) | p[part + sub - 4] >> 6 << 4;
}

// Writes the scales of a block of one row. Returns whether they are finite.
static inline __attribute__((always_inline)) bool put_scales(
    enum type type, const uint8_t *p, void *scales, uint16_t *units) {
    uint16_t *halves = scales;
    float *floats = scales;
    int8_t *factors = scales;
    switch (type) {
    case Q4_0:
    case Q5_0:
    case Q8_0:
    case IQ4_NL:
        halves[0] = half_at(p);
        return finite_half(halves[0]);
    case Q4_1:
    case Q5_1:
        halves[0] = half_at(p);
        halves[PANEL] = half_at(p + 2);
        return finite_half(halves[0]) && finite_half(halves[PANEL]);
    case INT4:
        floats[0] = float_at(p);
        floats[PANEL] = float_at(p + 4);
        return finite_scale(floats[0]) && finite_scale(floats[PANEL]);
    case INT8:
        floats[0] = float_at(p);
        return finite_scale(floats[0]);
    case MXFP4:
        floats[0] = half_of_power(p[0]);
        return finite_scale(floats[0]);
    case Q4_K:
    case Q5_K:
        for (int sub = 0; sub < 8; sub++) {
            factors[sub * 2 * PANEL] = (int8_t)six_bits(p + 4, sub, 0);
            factors[(sub * 2 + 1) * PANEL] = (int8_t)six_bits(p + 4, sub, 4);
        }
        units[0] = half_at(p);
        units[PANEL] = half_at(p + 2) ^ 0x8000;
        return finite_half(units[0]) && finite_half(units[PANEL]);
    case Q2_K:
        for (int sub = 0; sub < 16; sub++) {
            factors[sub * 2 * PANEL] = (int8_t)(p[sub] & 15);
            factors[(sub * 2 + 1) * PANEL] = (int8_t)(p[sub] >> 4);
        }
        units[0] = half_at(p + 80);
        units[PANEL] = half_at(p + 82) ^ 0x8000;
        return finite_half(units[0]) && finite_half(units[PANEL]);
    case Q3_K:
        for (int sub = 0; sub < 16; sub++) {
            int low = p[96 + sub % 8] >> sub / 8 * 4 & 15, high = p[104 + sub % 4] >> sub / 4 * 2 & 3;
            factors[sub * PANEL] = (int8_t)((low | high << 4) - 32);
        }
        units[0] = half_at(p + 108);
        return finite_half(units[0]);
    case Q6_K:
        for (int sub = 0; sub < 16; sub++) {
            factors[sub * PANEL] = (int8_t)p[192 + sub];
        }
        units[0] = half_at(p + 208);
        return finite_half(units[0]);
    default:
        for (int sub = 0; sub < 8; sub++) {
            int low = p[4 + sub / 2] >> sub % 2 * 4 & 15, high = half_at(p + 2) >> 2 * sub & 3;
            factors[sub * PANEL] = (int8_t)((low | high << 4) - 32);
        }
        units[0] = half_at(p);
        return finite_half(units[0]);
    }
}

// Bytes per scale, minimum or factor in a panel.
static inline __attribute__((always_inline)) size_t scale_size(enum type type) {
    switch (type) {
    case INT4:
    case INT8:
    case MXFP4:
        return sizeof(float);
    case Q4_0:
    case Q4_1:
    case Q5_0:
    case Q5_1:
    case Q8_0:
    case IQ4_NL:
        return sizeof(uint16_t);
    default:
        return sizeof(int8_t);
    }
}

// Moves up to four rows, at a distance of `row_bytes`. Returns a bit for each row that has a scale which is not finite.
static inline __attribute__((always_inline)) uint32_t put_rows(
    enum type type, int block_bytes, int subs, int scale_step, int units_step, const uint8_t *rows, ptrdiff_t row_bytes,
    int columns, int count, struct target t) {
    const uint8_t *p[ROWS];
    uint32_t refused = 0;
    for (int i = 0; i < ROWS; i++) {
        p[i] = rows + (i < count ? i : 0) * row_bytes;
    }
    size_t size = scale_size(type);
    for (int column = 0; column < columns; column += subs * BLOCK) {
        for (int sub = 0; sub < subs; sub++) {
            t.codes = put_codes(type, p, sub, count, t.codes);
        }
        for (int i = 0; i < count; i++) {
            char *scales = (char *)t.scales + (size_t)i * size;
            refused |= (uint32_t)!put_scales(type, p[i], scales, units_step ? t.units + i : NULL) << i;
        }
        for (int i = 0; i < ROWS; i++) {
            p[i] += block_bytes;
        }
        t.scales = (char *)t.scales + (size_t)(scale_step * PANEL) * size;
        t.units = units_step ? t.units + units_step * PANEL : NULL;
    }
    return refused;
}

static uint32_t put_four(enum type type, const uint8_t *rows, ptrdiff_t row_bytes, int columns, int count,
                         struct target t) {
    switch (type) {
#define CASE(TYPE, BYTES, SUBS, SCALES, UNITS) \
    case TYPE:                                 \
        return put_rows(TYPE, BYTES, SUBS, SCALES, UNITS, rows, row_bytes, columns, count, t)
        CASE(Q4_0, 18, 1, 1, 0);
        CASE(Q4_1, 20, 1, 2, 0);
        CASE(Q5_0, 22, 1, 1, 0);
        CASE(Q5_1, 24, 1, 2, 0);
        CASE(Q8_0, 34, 1, 1, 0);
        CASE(Q2_K, 84, 8, 32, 2);
        CASE(Q3_K, 110, 8, 16, 1);
        CASE(Q4_K, 144, 8, 16, 2);
        CASE(Q5_K, 176, 8, 16, 2);
        CASE(Q6_K, 210, 8, 16, 1);
        CASE(IQ4_NL, 18, 1, 1, 0);
        CASE(IQ4_XS, 136, 8, 8, 1);
        CASE(MXFP4, 17, 1, 1, 0);
        CASE(INT4, 24, 1, 2, 0);
        CASE(INT8, 36, 1, 1, 0);
#undef CASE
    default:
        return (1u << count) - 1;
    }
}

static uint32_t put_panel(enum type type, const uint8_t *rows, ptrdiff_t row_bytes, int columns, int count,
                          struct target t) {
    uint32_t refused = 0;
    for (int row = 0; row < count; row += ROWS) {
        int some = count - row < ROWS ? count - row : ROWS;
        struct target first = {t.codes + row, (char *)t.scales + (size_t)row * scale_size(type),
                               t.units ? t.units + row : NULL};
        refused |= put_four(type, rows + row * row_bytes, row_bytes, columns, some, first) << row;
    }
    return refused;
}

// Transposes eight rows of eight 16-bit numbers.
static inline void transpose_halves(bytes r[8]) {
    bytes a[8], b[8];
    for (int i = 0; i < 4; i++) {
        a[2 * i] = zip_low_16(r[2 * i], r[2 * i + 1]);
        a[2 * i + 1] = zip_high_16(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        b[4 * i] = zip_low_32(a[4 * i], a[4 * i + 2]);
        b[4 * i + 1] = zip_high_32(a[4 * i], a[4 * i + 2]);
        b[4 * i + 2] = zip_low_32(a[4 * i + 1], a[4 * i + 3]);
        b[4 * i + 3] = zip_high_32(a[4 * i + 1], a[4 * i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        r[2 * i] = zip_low_64(b[i], b[4 + i]);
        r[2 * i + 1] = zip_high_64(b[i], b[4 + i]);
    }
}

// Moves up to eight rows of 16-bit floats. Returns whether all are finite.
static bool put_halves(int exponent, const uint16_t *rows, int columns, int count, uint16_t *out) {
    bytes refused = {0};
    int k = 0;
    for (; count == 8 && k + 8 <= columns; k += 8) {
        bytes r[8];
        for (int i = 0; i < 8; i++) {
            r[i] = bytes_at((const uint8_t *)(rows + (ptrdiff_t)i * columns + k));
            refused |= (bytes)(((shorts)r[i] & (uint16_t)exponent) == (uint16_t)exponent);
        }
        transpose_halves(r);
        for (int i = 0; i < 8; i++) memcpy(out + (ptrdiff_t)(k + i) * PANEL, &r[i], sizeof r[i]);
    }
    bool finite = !(((longs)refused)[0] | ((longs)refused)[1]);
    for (; k < columns; k++) {
        for (int i = 0; i < count; i++) {
            uint16_t value = rows[(ptrdiff_t)i * columns + k];
            finite &= (value & exponent) != exponent;
            out[(ptrdiff_t)k * PANEL + i] = value;
        }
    }
    return finite;
}

static bool put_float8(const uint8_t *rows, int columns, int count, uint8_t *codes, float *scales) {
    enum { BYTES = 36 };
    ptrdiff_t row_bytes = (ptrdiff_t)(columns / BLOCK) * BYTES;
    bool finite = true;
    for (int block = 0; block < columns / BLOCK; block++) {
        const uint8_t *p = rows + (ptrdiff_t)block * BYTES;
        for (int i = 0; i < count; i++) {
            float scale = float_at(p + i * row_bytes);
            scales[(ptrdiff_t)block * PANEL + i] = scale;
            finite &= finite_scale(scale);
        }
        for (int k = 0; k < BLOCK; k++) {
            uint8_t *at = codes + ((ptrdiff_t)block * BLOCK + k) * PANEL;
            for (int i = 0; i < count; i++) {
                at[i] = p[i * row_bytes + 4 + k];
            }
        }
    }
    return finite;
}

static bool finite_floats(const float *rows, ptrdiff_t count) {
    bool finite = true;
    for (ptrdiff_t i = 0; i < count; i++) finite &= __builtin_fabsf(rows[i]) <= FLT_MAX;
    return finite;
}

static void *address(jlong at) {
    return (void *)(intptr_t)at;
}

JNIEXPORT jboolean JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeRepacking_codes(
    JNIEnv *env, jclass self, jint type, jobject rows, jint from, jint row_bytes, jint columns, jint count, jlong codes,
    jlong scales, jlong units) {
    (void)self;
    const uint8_t *source = (const uint8_t *)(*env)->GetDirectBufferAddress(env, rows) + from;
    struct target t = {address(codes), address(scales), address(units)};
    return put_panel((enum type)type, source, row_bytes, columns, count, t) == 0;
}

JNIEXPORT jboolean JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeRepacking_halves(
    JNIEnv *env, jclass self, jboolean bfloat16, jobject rows, jint from, jint columns, jint count, jlong out) {
    (void)self;
    const uint16_t *source = (const uint16_t *)((const char *)(*env)->GetDirectBufferAddress(env, rows) + from);
    bool finite = true;
    for (int row = 0; row < count; row += 8) {
        int some = count - row < 8 ? count - row : 8;
        uint16_t *to = (uint16_t *)address(out) + row;
        finite &= put_halves(bfloat16 ? 0x7f80 : 0x7c00, source + (ptrdiff_t)row * columns, columns, some, to);
    }
    return finite;
}

JNIEXPORT jboolean JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeRepacking_float8(
    JNIEnv *env, jclass self, jobject rows, jint from, jint columns, jint count, jlong codes, jlong scales) {
    (void)self;
    const uint8_t *source = (const uint8_t *)(*env)->GetDirectBufferAddress(env, rows) + from;
    return put_float8(source, columns, count, address(codes), address(scales));
}

JNIEXPORT jboolean JNICALL Java_io_radixflow_kernels_cpu_kernel_NativeRepacking_floats(
    JNIEnv *env, jclass self, jobject rows, jint from, jint columns, jint count, jlong out) {
    (void)self;
    const float *source = (const float *)((const char *)(*env)->GetDirectBufferAddress(env, rows) + from);
    float *to = address(out);
    for (int k = 0; k < columns; k++) {
        for (int i = 0; i < count; i++) to[(ptrdiff_t)k * PANEL + i] = source[(ptrdiff_t)i * columns + k];
    }
    return finite_floats(source, (ptrdiff_t)count * columns);
}
