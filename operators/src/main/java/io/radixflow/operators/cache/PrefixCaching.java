package io.radixflow.operators.cache;

/** What requests share of the pages they have computed. */
public enum PrefixCaching {
  /** Every prefix. */
  RADIX,
  /** Nothing, as in SGLang's ChunkCache; a request that was preempted finds its own pages again. */
  CHUNK,
  /** Nothing, and no page outlives its request's step; the baseline, as in mini-SGLang. */
  NAIVE
}
