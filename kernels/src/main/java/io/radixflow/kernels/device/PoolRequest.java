package io.radixflow.kernels.device;

/**
 * The KV pool, and the host memory below it, that are going to be opened on a backend.
 *
 * @param pages pages of the pool; 0 if {@code bytes} says its size
 * @param bytes bytes of the pool; 0 if neither says it and the backend's memory decides
 * @param windowShare part of the pages that have the entries of layers with a window
 * @param hostBytes bytes of host memory for pages
 */
public record PoolRequest(long pages, long bytes, double windowShare, long hostBytes) {

  /** A pool that takes the remaining memory. */
  public static final PoolRequest NONE = new PoolRequest(0, 0, 1, 0);

  /** Bytes of a pool whose pages have {@code pageTokens} tokens; at least one page. */
  public long poolBytes(KvSpec spec, int pageTokens) {
    double inParts = (1 - windowShare) * spec.windowBytesPerToken();
    double page = pageTokens * (spec.bytesPerToken() - inParts);
    return bytes > 0 && pages == 0 ? bytes : (long) (Math.max(1, pages) * page);
  }
}
