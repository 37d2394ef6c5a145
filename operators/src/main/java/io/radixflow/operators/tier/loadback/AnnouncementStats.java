package io.radixflow.operators.tier.loadback;

/**
 * What was read from the stores into host memory for turns that were announced.
 *
 * @param begun announcements for which the stores were asked, or will be
 * @param pages pages that were read for them
 * @param cutShort those that ended before all had come that the stores had: the turn came, time was
 *     up, or host memory had no room
 */
public record AnnouncementStats(long begun, long pages, long cutShort) {
  /** No announcements. */
  public static final AnnouncementStats NONE = new AnnouncementStats(0, 0, 0);
}
