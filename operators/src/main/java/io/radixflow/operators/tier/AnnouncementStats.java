package io.radixflow.operators.tier;

/**
 * What was fetched from the store into host memory for turns that were expected.
 *
 * @param begun prefetches that asked the store, or wait to
 * @param pages pages that they fetched
 * @param cutShort those that ended before all had come that the store had: the turn came, time was
 *     up, or host memory had no room
 */
public record AnnouncementStats(long begun, long pages, long cutShort) {
  /** No prefetches. */
  public static final AnnouncementStats NONE = new AnnouncementStats(0, 0, 0);
}
