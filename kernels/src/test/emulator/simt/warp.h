// Barriers, warp operations and atomics.
#pragma once
#include "language.h"

using simt::Place;

inline void __syncthreads(Place place = Place::here()) {
    simt::current->barrier(0, simt::current->alive(), place);
}

// bar.sync of `threads` threads at barrier `id`, 1 to 15.
inline void named_barrier(int id, int threads, Place place = Place::here()) {
    simt::current->barrier(id, threads, place);
}

inline void __syncwarp(uint32_t mask = ~0u, Place place = Place::here()) {
    int none = 0;
    simt::current->meet(mask, none, place, [](int**) {});
}
inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_block() {}

namespace simt {

// Every lane of mask gets the value of lane `from` of the warp, or keeps its own where from is negative.
template <class T>
T shuffle(uint32_t mask, T value, int from, Place place) {
    struct Operand {
        T in, out;
        int from;
    } operand{value, value, from};
    Block& block = *current;
    if (from >= 0 && !(mask >> from & 1)) block.fail(kLaunchFailed, place, "shuffle from lane %d, not in the mask", from);
    block.meet(mask, operand, place, [mask](Operand** lane) {
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            Operand& mine = *lane[__builtin_ctz(rest)];
            if (mine.from >= 0) mine.out = lane[mine.from]->in;
        }
    });
    return operand.out;
}

// Every lane of mask gets reduce(values of these lanes).
template <class T, class R, class Reduce>
R together(uint32_t mask, T value, Place place, Reduce reduce) {
    struct Operand {
        T in;
        R out;
    } operand{value, R()};
    current->meet(mask, operand, place, [mask, &reduce](Operand** lane) {
        T in[kWarp];
        for (uint32_t rest = mask; rest; rest &= rest - 1) in[__builtin_ctz(rest)] = lane[__builtin_ctz(rest)]->in;
        R out = reduce(in);
        for (uint32_t rest = mask; rest; rest &= rest - 1) lane[__builtin_ctz(rest)]->out = out;
    });
    return operand.out;
}

inline int lane() { return current->self->lane; }

}  // namespace simt

template <class T>
T __shfl_sync(uint32_t mask, T v, int source, int width = 32, Place place = Place::here()) {
    return simt::shuffle(mask, v, (simt::lane() & ~(width - 1)) | (source & (width - 1)), place);
}
template <class T>
T __shfl_xor_sync(uint32_t mask, T v, int bits, int width = 32, Place place = Place::here()) {
    int source = simt::lane() ^ bits, group = ~(width - 1);
    return simt::shuffle(mask, v, (source & group) > (simt::lane() & group) ? -1 : source, place);
}
template <class T>
T __shfl_down_sync(uint32_t mask, T v, int delta, int width = 32, Place place = Place::here()) {
    bool outside = (simt::lane() & (width - 1)) + delta >= width;
    return simt::shuffle(mask, v, outside ? -1 : simt::lane() + delta, place);
}
template <class T>
T __shfl_up_sync(uint32_t mask, T v, int delta, int width = 32, Place place = Place::here()) {
    bool outside = (simt::lane() & (width - 1)) < delta;
    return simt::shuffle(mask, v, outside ? -1 : simt::lane() - delta, place);
}
inline uint32_t __ballot_sync(uint32_t mask, int predicate, Place place = Place::here()) {
    return simt::together<int, uint32_t>(mask, predicate, place, [mask](const int* in) {
        uint32_t votes = 0;
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            if (in[__builtin_ctz(rest)]) votes |= rest & -rest;
        }
        return votes;
    });
}
inline int __any_sync(uint32_t mask, int predicate, Place place = Place::here()) {
    return __ballot_sync(mask, predicate, place) != 0;
}
inline int __all_sync(uint32_t mask, int predicate, Place place = Place::here()) {
    return __ballot_sync(mask, predicate, place) == mask;
}
inline uint32_t __reduce_add_sync(uint32_t mask, uint32_t v, Place place = Place::here()) {
    return simt::together<uint32_t, uint32_t>(mask, v, place, [mask](const uint32_t* in) {
        uint32_t sum = 0;
        for (uint32_t rest = mask; rest; rest &= rest - 1) sum += in[__builtin_ctz(rest)];
        return sum;
    });
}
inline uint32_t __reduce_max_sync(uint32_t mask, uint32_t v, Place place = Place::here()) {
    return simt::together<uint32_t, uint32_t>(mask, v, place, [mask](const uint32_t* in) {
        uint32_t top = 0;
        for (uint32_t rest = mask; rest; rest &= rest - 1) top = std::max(top, in[__builtin_ctz(rest)]);
        return top;
    });
}
inline uint32_t __match_any_sync(uint32_t mask, uint32_t v, Place place = Place::here()) {
    uint32_t same = 0;
    for (int i = 0; i < 32; ++i) {
        uint32_t other = __shfl_sync(mask, v, mask >> i & 1 ? i : simt::lane(), 32, place);
        if ((mask >> i & 1) && other == v) same |= 1u << i;
    }
    return same;
}

namespace simt {
// Replaces *p by change(*p) in one step, whatever other blocks do; returns the old value.
template <class T, class Change>
T update(T* p, Change change) {
    T old, wanted;
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    do {
        wanted = change(old);
    } while (!__atomic_compare_exchange(p, &old, &wanted, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
}
}  // namespace simt

template <class T> T atomicAdd(T* p, std::common_type_t<T> v) { return simt::update(p, [v](T old) { return old + v; }); }
template <class T> T atomicSub(T* p, std::common_type_t<T> v) { return simt::update(p, [v](T old) { return old - v; }); }
template <class T> T atomicMax(T* p, std::common_type_t<T> v) { return simt::update(p, [v](T old) { return std::max(old, v); }); }
template <class T> T atomicMin(T* p, std::common_type_t<T> v) { return simt::update(p, [v](T old) { return std::min(old, v); }); }
template <class T> T atomicOr(T* p, std::common_type_t<T> v) { return simt::update(p, [v](T old) { return old | v; }); }
template <class T> T atomicAnd(T* p, std::common_type_t<T> v) { return simt::update(p, [v](T old) { return old & v; }); }
template <class T> T atomicExch(T* p, std::common_type_t<T> v) { return simt::update(p, [v](T) { return v; }); }
template <class T> T atomicCAS(T* p, std::common_type_t<T> expected, std::common_type_t<T> v) {
    return simt::update(p, [expected, v](T old) { return old == expected ? v : old; });
}
inline unsigned atomicInc(unsigned* p, unsigned top) {
    return simt::update(p, [top](unsigned old) { return old >= top ? 0 : old + 1; });
}
