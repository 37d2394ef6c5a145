package io.radixflow.engine.tier.loadback;

/**
 * Counters of the reads that load pages of announced turns from the stores into host memory.
 *
 * @param begun announcements for which the stores are read, now or later
 * @param pages pages that were read for these announcements
 * @param cutShort announcements that ended before all available pages were read, because the turn
 *     arrived, the time was over, or host memory was full
 */
public record AnnouncementStats(long begun, long pages, long cutShort) {
  public static final AnnouncementStats NONE = new AnnouncementStats(0, 0, 0);
}
