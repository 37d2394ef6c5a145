package io.radixflow.operators.tier;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Restores the rule that each page in a file is in the directory, where damage broke it: what is
 * neither a page of the directory nor a hole becomes one.
 */
final class SegmentRepair {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentRepair.class);

  private final SegmentLog log;
  private final PageIndex index;
  private final Erasure erasure;
  private final Runnable wake;

  /**
   * @param wake tells the store's thread of work
   */
  SegmentRepair(SegmentLog log, PageIndex index, Erasure erasure, Runnable wake) {
    this.log = log;
    this.index = index;
    this.erasure = erasure;
    this.wake = wake;
  }

  /** Destroys the record of a page that the directory has forgotten. The log's monitor is held. */
  void destroy(PageDirectory.Entry entry) {
    Segment segment = log.get(entry.segment());
    if (segment != null) {
      destroy(segment, entry.offset(), entry.length());
    }
  }

  private void destroy(Segment segment, long offset, int length) {
    try {
      Erasure.makeHole(segment, offset, length, false);
    } catch (IOException e) {
      LOG.debug("The erasure in the queue will do it", e);
      index.unsettle(segment);
    }
    segment.addDead(length);
    erasure.addRecord(segment, offset, length);
    wake.run();
  }

  /** Looks through a segment when the store's thread comes to it. */
  void later(long number) {
    Segment segment = log.get(number);
    if (segment != null) {
      index.unsettle(segment);
      erasure.add(() -> run(segment));
      wake.run();
    }
  }

  /** Called under the monitor of {@link Reclaim}. */
  private void run(Segment segment) throws IOException {
    SegmentScan scan;
    long end = segment.bytes();
    try {
      SegmentFile file = segment.acquire();
      if (file == null) {
        return;
      }
      try {
        scan = SegmentScan.of(file, segment.header());
      } finally {
        segment.release();
      }
    } catch (SegmentMissException e) {
      giveUp(segment, e.getMessage());
      return;
    }
    synchronized (log) {
      for (RecordHeader record : scan.records()) {
        if (record.page() != null
            && record.offset() < end
            && !index.isAt(record.page().id(), segment.number(), record.offset())) {
          destroy(segment, record.offset(), record.recordBytes());
        }
      }
      for (SegmentScan.Damage damage : scan.damages()) {
        if (damage.offset() + damage.length() <= end) {
          destroy(segment, damage.offset(), (int) damage.length());
        }
      }
      if (scan.end() < end) {
        destroy(segment, scan.end(), (int) (end - scan.end()));
      }
    }
  }

  /** The file is gone, is another, or cannot be read. Called under the monitor of Reclaim. */
  void giveUp(Segment segment, String cause) {
    LOG.warn("The pages of segment {} are dropped: {}", segment.number(), cause);
    synchronized (log) {
      List<TierPage> lost = new ArrayList<>();
      index
          .directory()
          .forEach(
              entry -> {
                if (entry.segment() == segment.number()) {
                  lost.add(entry.page());
                }
              });
      index.unsettle(segment);
      segment.giveUp();
      index.drop(lost);
      log.delete(segment);
    }
  }
}
