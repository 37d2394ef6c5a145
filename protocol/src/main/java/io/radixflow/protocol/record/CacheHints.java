package io.radixflow.protocol.record;

import java.io.Serializable;
import java.util.List;

/**
 * A request's hints about the value of its pages. Hints change the order of evictions, never a
 * reply.
 *
 * @param noStore whether the pages are freed when the request ends, without being shared
 * @param pinMillis how long the whole prefix is kept from eviction after the request has ended; 0
 *     for not at all
 * @param retention priorities of parts of the prompt, like TensorRT-LLM's token ranges; used by the
 *     policy 'priority'
 * @param generated priority of the generated tokens' pages, or null; its tokens are ignored
 */
public record CacheHints(
    boolean noStore, long pinMillis, List<RetentionRange> retention, RetentionRange generated)
    implements Serializable {

  /** No hints. */
  public static final CacheHints NONE = new CacheHints(false, 0, List.of(), null);

  /** The most ranges of a request. */
  public static final int MAX_RANGES = 16;

  public CacheHints {
    retention = List.copyOf(retention);
    if (pinMillis < 0) {
      throw new IllegalArgumentException("a pin lasts " + pinMillis + " ms; it must be at least 0");
    }
    if (retention.size() > MAX_RANGES) {
      throw new IllegalArgumentException(
          retention.size() + " ranges of retention; it must be at most " + MAX_RANGES);
    }
  }
}
