// Copies input rows from the embedding table.
#pragma once
#include "device.cuh"

// out[row] = scale * table[token of row], bf16. A row's token is rowToken[row]; if that is negative, it is ring[-1 -
// rowToken[row]], which an earlier step sampled. One warp per row. Rows from *rows on are not written. A token outside
// the vocabulary gives zeros. width is a multiple of 8.
KERNEL(rf_embed, const bf16* table, const int* rows, const int* rowToken, const int* ring, bf16* out, int width,
       int vocab, float scale) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= *rows) return;
    int token = rowToken[row];
    if (token < 0) token = ring[-1 - token];
    bool known = token >= 0 && token < vocab;
    const uint4* from = reinterpret_cast<const uint4*>(table + size_t(known ? token : 0) * width);
    uint4* to = reinterpret_cast<uint4*>(out + size_t(row) * width);
    for (int i = lane; i < width / 8; i += 32) {
        uint4 v = known ? from[i] : make_uint4(0, 0, 0, 0);
        to[i] = make_uint4(scale_bf16(v.x, scale), scale_bf16(v.y, scale), scale_bf16(v.z, scale),
                           scale_bf16(v.w, scale));
    }
}
