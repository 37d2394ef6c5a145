package io.radixflow.operators.cache;

/** What requests share of the pages they have computed. */
public enum PrefixCaching {
  /** Every prefix, in a radix tree. */
  RADIX,
  /** Nothing; but a request that was put back finds its own pages again. */
  CHUNK,
  /** Nothing at all. */
  NAIVE
}
