package io.radixflow.kernels.device;

/**
 * The sizes of the KV pool and of the host tier that will be opened on a backend.
 *
 * @param pages pages of the pool; 0 if {@code bytes} says its size
 * @param bytes bytes of the pool; if {@code pages} is also 0, the backend's memory decides
 * @param windowShare share of the pages that have a window part, 0 to 1
 * @param hostBytes bytes of host memory for pages
 */
public record PoolRequest(long pages, long bytes, double windowShare, long hostBytes) {

  /** A pool that takes the remaining memory. */
  public static final PoolRequest NONE = new PoolRequest(0, 0, 1, 0);

  /** Bytes of the pool if a page has {@code pageTokens} tokens; at least one page. */
  public long poolBytes(KvSpec spec, int pageTokens) {
    double inParts = (1 - windowShare) * spec.windowBytesPerToken();
    double page = pageTokens * (spec.bytesPerToken() - inParts);
    return bytes > 0 && pages == 0 ? bytes : (long) (Math.max(1, pages) * page);
  }
}
