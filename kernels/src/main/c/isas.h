// The instruction sets of the processor's architecture. A number that a native method gets is an index into a table of
// functions.
#ifndef RADIXFLOW_ISAS_H
#define RADIXFLOW_ISAS_H

// EACH names the functions of each instruction set. AVX-VNNI and the dot products of NEON have no instructions for floats:
// EACH_FLOAT names the functions for floats.
#ifdef __x86_64__
#define ISAS "AVX2 AVX_VNNI AVX512_VNNI"
enum { AVX2, AVX_VNNI, AVX512_VNNI };
#define EACH(name) name##_avx2, name##_avxvnni, name##_avx512vnni
#define EACH_FLOAT(name) name##_avx2, name##_avx2, name##_avx512vnni
#define FLOAT_ISAS(name) name##_avx2, name##_avx512vnni
#else
#define ISAS "NEON NEON_DOT"
enum { NEON, NEON_DOT };
#define EACH(name) name##_neon, name##_neondot
#define EACH_FLOAT(name) name##_neon, name##_neon
#define FLOAT_ISAS(name) name##_neon
#endif

#endif
