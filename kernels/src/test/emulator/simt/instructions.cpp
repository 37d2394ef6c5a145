#include "instructions.h"

#include <vector>

namespace simt {

void multiply_m16n8k16(float* const (&d)[32], const uint32_t* const (&a)[32], const uint32_t* const (&b)[32]) {
    alignas(64) float left[16][16], right[16][8], sum[16][8];
    for (int lane = 0; lane < 32; ++lane) {
        int group = lane / 4, pair = lane % 4 * 2;
        for (int i = 0; i < 4; ++i) {
            int row = group + i % 2 * 8, column = pair + i / 2 * 8;
            left[row][column] = low_bf16(a[lane][i]);
            left[row][column + 1] = high_bf16(a[lane][i]);
        }
        for (int i = 0; i < 2; ++i) {
            right[pair + i * 8][group] = low_bf16(b[lane][i]);
            right[pair + i * 8 + 1][group] = high_bf16(b[lane][i]);
        }
        for (int i = 0; i < 4; ++i) sum[group + i / 2 * 8][pair + i % 2] = d[lane][i];
    }
    for (int i = 0; i < 16; ++i) {
        for (int k = 0; k < 16; ++k) {
            for (int j = 0; j < 8; ++j) sum[i][j] += left[i][k] * right[k][j];
        }
    }
    for (int lane = 0; lane < 32; ++lane) {
        int group = lane / 4, pair = lane % 4 * 2;
        for (int i = 0; i < 4; ++i) d[lane][i] = sum[group + i / 2 * 8][pair + i % 2];
    }
}

namespace {

// The element of a tile: rows of 64 bf16, swizzled by 128 bytes, atoms of 8 rows at the descriptor's stride.
float element(const Block& block, uint64_t descriptor, int row, int k) {
    uint32_t stride = uint32_t(descriptor >> 32 & 0x3fff) * 16;
    uint32_t address = uint32_t(descriptor & 0x3fff) * 16 + row / 8 * stride + row % 8 * 128 + k * 2;
    address ^= (address >> 7 & 7) << 4;
    if (block.unfenced[address / 16]) return __uint_as_float(0x7fffffff);
    __nv_bfloat16 value;
    memcpy(&value, block.shared + address, 2);
    return __bfloat162float(value);
}

AsyncSum& sum_of(Thread& thread, float* seen) {
    for (AsyncSum& sum : thread.sums) {
        if (sum.seen == seen) return sum;
    }
    return thread.sums.emplace_back(AsyncSum{seen, {}, 0});
}

// The product that each of the 128 threads issued as its index-th of the oldest group.
void multiply(Thread* const* threads, size_t index, const Block& block) {
    const AsyncProduct& product = threads[0]->products.front()[index];
    int columns = product.columns;
    std::vector<float> left(64 * 16), right(16 * columns), sum(columns);
    for (int k = 0; k < 16; ++k) {
        for (int i = 0; i < 64; ++i) left[i * 16 + k] = element(block, product.a, i, k);
        for (int j = 0; j < columns; ++j) right[k * columns + j] = element(block, product.b, j, k);
    }
    float* sums[128];
    for (int t = 0; t < 128; ++t) sums[t] = sum_of(*threads[t], threads[t]->products.front()[index].sum).value.data();
    // As a device does, it adds to the accumulator in the order of mma.sync.
    for (int i = 0; i < 64; ++i) {
        auto d = [&](int j) -> float& {
            return sums[i / 16 * 32 + i % 8 * 4 + j % 8 / 2][j / 8 * 4 + i % 16 / 8 * 2 + j % 2];
        };
        for (int j = 0; j < columns; ++j) sum[j] = product.accumulate ? d(j) : 0.0f;
        for (int k = 0; k < 16; ++k) {
            for (int j = 0; j < columns; ++j) sum[j] += left[i * 16 + k] * right[k * columns + j];
        }
        for (int j = 0; j < columns; ++j) d(j) = sum[j];
    }
}

// Shows the accumulators that no product in flight will change any more.
void retire_oldest(Thread& thread) {
    for (const AsyncProduct& product : thread.products.front()) --sum_of(thread, product.sum).products;
    thread.products.erase(thread.products.begin());
    for (size_t i = thread.sums.size(); i-- > 0;) {
        AsyncSum& sum = thread.sums[i];
        if (sum.products) continue;
        std::copy(sum.value.begin(), sum.value.end(), sum.seen);
        thread.sums.erase(thread.sums.begin() + i);
    }
}

}  // namespace

void issue_product(float* sum, uint64_t a, uint64_t b, int columns, bool accumulate) {
    Thread& thread = *current->self;
    if (thread.products.empty()) thread.products.emplace_back();
    thread.products.back().push_back({sum, a, b, columns, accumulate});
    AsyncSum& kept = sum_of(thread, sum);
    if (kept.products++ == 0) {
        kept.value.assign(sum, sum + columns / 2);
        std::fill(sum, sum + columns / 2, __uint_as_float(0x7fffffff));
    }
}

void wait_products(int pending, Place place) {
    if (int(current->self->products.size()) - 1 <= pending) return;
    current->meet_group(place, [pending](Thread** threads) {
        while (int(threads[0]->products.size()) - 1 > pending) {
            for (size_t i = 0; i < threads[0]->products.front().size(); ++i) multiply(threads, i, *current);
            for (int t = 0; t < 128; ++t) retire_oldest(*threads[t]);
        }
    });
}

}  // namespace simt
