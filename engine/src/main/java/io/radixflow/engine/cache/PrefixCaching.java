package io.radixflow.engine.cache;

import io.radixflow.protocol.PublicApi;

/** Which computed pages requests share. */
@PublicApi
public enum PrefixCaching {
  /** Every prefix. */
  RADIX,
  /**
   * No pages, as in SGLang's ChunkCache. A request that was preempted finds its own pages again.
   */
  CHUNK,
  /**
   * No pages, and each page is freed after its request's step. This is the baseline, as in
   * mini-SGLang.
   */
  NAIVE
}
