package io.radixflow.engine.cache;

import io.radixflow.protocol.PublicApi;

/** The share of computed pages that requests have in common. */
@PublicApi
public enum PrefixCaching {
  /** Every prefix. */
  RADIX,
  /** Nothing, as in SGLang's ChunkCache; a request that was preempted finds its own pages again. */
  CHUNK,
  /** Nothing, and no page outlives its request's step; the baseline, as in mini-SGLang. */
  NAIVE
}
