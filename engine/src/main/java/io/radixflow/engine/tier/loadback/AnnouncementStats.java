package io.radixflow.engine.tier.loadback;

/**
 * Counters of reads from the stores into host memory for announced turns.
 *
 * @param begun announcements for which the stores were asked, or will be
 * @param pages pages that were read for them
 * @param cutShort announcements that ended before all available pages had come: the turn came, time
 *     was up, or host memory was full
 */
public record AnnouncementStats(long begun, long pages, long cutShort) {
  /** No announcements. */
  public static final AnnouncementStats NONE = new AnnouncementStats(0, 0, 0);
}
