package io.radixflow.operators.tier;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes room: deletes segments after appending anew those of their pages that stay.
 *
 * <p>The order of the log is the order of use, as a clock keeps it: a hand goes over the segments
 * from the oldest on. In a segment stay pages that were used since the hand passed them, and pages
 * that a stored page has as parent, for a page without those before it is of no use. A segment of
 * which at least half would go is reclaimed, so that a byte of room costs at most a byte of
 * copying; another is passed by, and pages that stay for their use alone lose the mark of it. If a
 * whole round finds none, the one of which most would go is taken. Work is done under the monitor,
 * by whoever needs room or by the store's own thread ahead of need.
 */
final class Reclaim {
  private static final Logger LOG = LoggerFactory.getLogger(Reclaim.class);
  private static final int COPY_BATCH = 1 << 20;
  private static final int ROUNDS = 2;

  /**
   * What would become of a segment's records.
   *
   * @param spared which of those that stay do so for their use alone
   */
  private record Plan(
      Segment segment,
      List<RecordHeader> records,
      List<RecordHeader> stay,
      List<PageId> spared,
      List<TierPage> go) {
    long freed() {
      return segment.bytes() - stay.stream().mapToLong(RecordHeader::recordBytes).sum();
    }
  }

  private final SegmentLog log;
  private final PageIndex index;
  private final SegmentRepair repair;
  private final StoreCounters counters;
  private volatile long limitBytes;
  private final long reserve;
  private final RoomLeft others;
  private long hand;
  private ByteBuffer copies;

  /** How many bytes may be written before the file system has too few left for others. */
  @FunctionalInterface
  interface RoomLeft {
    long bytes() throws IOException;
  }

  Reclaim(
      SegmentLog log,
      PageIndex index,
      SegmentRepair repair,
      StoreCounters counters,
      DiskStoreOptions options,
      RoomLeft others) {
    this.log = log;
    this.index = index;
    this.repair = repair;
    this.counters = counters;
    this.limitBytes = options.limitBytes();
    this.reserve = options.segmentBytes();
    this.others = others;
  }

  long limitBytes() {
    return limitBytes;
  }

  /** From now on this is the limit; room is made when it is next asked for. */
  void limit(long bytes) {
    limitBytes = bytes;
  }

  /** Makes room for so many bytes more; false if that cannot be. */
  synchronized boolean makeRoom(long bytes) {
    while (!fits(bytes) || !othersLeave(bytes)) {
      if (!reclaimOne()) {
        return false;
      }
    }
    return true;
  }

  /** As {@link #makeRoom}, ahead of need: does not mind what others leave of the file system. */
  synchronized void makeRoomAhead(long bytes) {
    while (!fits(bytes)) {
      if (!reclaimOne()) {
        return;
      }
    }
  }

  /** One segment is kept free for what reclaiming appends before it deletes. */
  private boolean fits(long bytes) {
    return log.bytes() + bytes + reserve <= limitBytes;
  }

  private boolean othersLeave(long bytes) {
    try {
      return others.bytes() >= bytes;
    } catch (IOException e) {
      LOG.warn("The file system does not say how much is free", e);
      return true;
    }
  }

  /** Reclaims segments half of whose bytes, at least, are of pages removed. */
  synchronized void compact() {
    for (Segment segment : log.sealedFrom(0)) {
      if (segment.deadBytes() * 2 > segment.bytes()) {
        List<RecordHeader> records = records(segment);
        if (records != null) {
          reclaim(segment, records, false);
        }
      }
    }
  }

  private boolean reclaimOne() {
    List<Segment> sealed = sealed();
    Plan best = null;
    Segment unreadable = null;
    for (int visited = 0; visited < ROUNDS * sealed.size(); visited++) {
      Segment segment = sealed.get(visited % sealed.size());
      Plan plan;
      List<RecordHeader> records = records(segment);
      hand = segment.number() + 1;
      if (records == null) {
        unreadable = segment;
        continue;
      }
      synchronized (log) {
        plan = plan(segment, records, true);
      }
      if (plan.freed() * 2 >= segment.bytes()) {
        reclaim(segment, records, true);
        return true;
      }
      if (best == null || plan.freed() > best.freed()) {
        best = plan;
      }
      plan.spared().forEach(index.marks()::unuse);
    }
    if (best == null || best.freed() <= SegmentHeader.BYTES) {
      if (unreadable != null) {
        repair.giveUp(unreadable, "it cannot be read, and there is no other room");
      }
      return unreadable != null;
    }
    reclaim(best.segment(), best.records(), true);
    return true;
  }

  /** Those that nothing is appended to, the one at the hand first; all if that is none. */
  private List<Segment> sealed() {
    synchronized (log) {
      if (log.sealedFrom(0).isEmpty()) {
        log.seal();
      }
      List<Segment> found = new ArrayList<>(log.sealedFrom(hand));
      found.addAll(log.sealedFrom(0).subList(0, log.sealedFrom(0).size() - found.size()));
      return found;
    }
  }

  /** Pages of a segment, in order; null if the file cannot be read now. */
  private static List<RecordHeader> records(Segment segment) {
    try {
      SegmentFile file = segment.acquire();
      if (file == null) {
        return null;
      }
      try {
        List<RecordHeader> records =
            new ArrayList<>(SegmentScan.of(file, segment.header()).records());
        records.removeIf(record -> record.page() == null);
        return records;
      } finally {
        segment.release();
      }
    } catch (IOException e) {
      LOG.warn("Segment {} cannot be read and is passed by", segment.number(), e);
      return null;
    }
  }

  /** Backwards, so that pages go before those that they follow. */
  private Plan plan(Segment segment, List<RecordHeader> records, boolean evict) {
    List<RecordHeader> stay = new ArrayList<>();
    List<PageId> spared = new ArrayList<>();
    List<TierPage> go = new ArrayList<>();
    Map<PageId, Integer> orphaned = new HashMap<>();
    for (int i = records.size() - 1; i >= 0; i--) {
      TierPage page = records.get(i).page();
      if (!index.isAt(page.id(), segment.number(), records.get(i).offset())) {
        continue;
      }
      int children = index.marks().children(page.id()) - orphaned.getOrDefault(page.id(), 0);
      if (!evict || index.marks().used(page.id()) || children > 0) {
        stay.add(records.get(i));
        if (children <= 0) {
          spared.add(page.id());
        }
      } else {
        go.add(page);
        if (page.parent() != null) {
          orphaned.merge(page.parent(), 1, Integer::sum);
        }
      }
    }
    Collections.reverse(stay);
    return new Plan(segment, records, stay, spared, go);
  }

  private void reclaim(Segment segment, List<RecordHeader> records, boolean evict) {
    Plan plan;
    synchronized (log) {
      // anew: meanwhile pages were used, removed, or written below others
      plan = plan(segment, records, evict);
      index.unsettle(segment);
      segment.giveUp();
      index.drop(plan.go());
      stepBack(plan.go());
    }
    counters.evicted.add(plan.go().size());
    copy(segment, plan.stay());
    dropRest(segment, plan.stay());
    log.delete(segment);
  }

  /**
   * To where the hand passed by pages only for those that are now gone: the rest of a conversation
   * goes before younger ones.
   */
  private void stepBack(List<TierPage> gone) {
    for (TierPage page : gone) {
      PageDirectory.Entry parent = page.parent() == null ? null : index.get(page.parent());
      if (parent != null && index.marks().children(page.parent()) == 0) {
        hand = Math.min(hand, parent.segment());
      }
    }
  }

  private void copy(Segment segment, List<RecordHeader> stay) {
    for (int from = 0; from < stay.size(); ) {
      int to = from;
      int bytes = 0;
      while (to < stay.size() && (to == from || bytes + stay.get(to).length() <= COPY_BATCH)) {
        bytes += stay.get(to++).length();
      }
      try {
        copyBatch(segment, stay.subList(from, to));
      } catch (IOException e) {
        LOG.warn("Pages of segment {} are dropped: they were not copied", segment.number(), e);
        counters.failedWrites.add(to - from);
      }
      from = to;
    }
  }

  private void copyBatch(Segment segment, List<RecordHeader> batch) throws IOException {
    List<SegmentLog.Appended> records = new ArrayList<>();
    ByteBuffer space = space(batch.stream().mapToInt(RecordHeader::length).sum());
    SegmentFile file = segment.acquire();
    try {
      for (RecordHeader record : batch) {
        ByteBuffer body = space.slice(space.position(), record.length());
        space.position(space.position() + record.length());
        file.read(body, record.offset() + RecordHeader.BYTES);
        if (PageVerifier.checksum(body.flip()) == record.check()) {
          records.add(new SegmentLog.Appended(record, body));
        }
      }
    } finally {
      segment.release();
    }
    List<PageDirectory.Entry> placed = new ArrayList<>();
    synchronized (log) {
      records.removeIf(
          r -> !index.isAt(r.header().page().id(), segment.number(), r.header().offset()));
      try {
        log.append(records, placed);
      } finally {
        if (!index.place(placed, log.of(placed))) {
          // those that the directory still has where they were are dropped with the segment
          placed.forEach(repair::destroy);
          counters.failedWrites.add(placed.size());
        }
      }
    }
  }

  /** The memory of copies; a page may be larger than a batch. */
  private ByteBuffer space(int bytes) {
    if (copies == null || copies.capacity() < bytes) {
      copies = ByteBuffer.allocateDirect(Math.max(bytes, COPY_BATCH));
    }
    return copies.clear();
  }

  /** Pages that could not be copied. */
  private void dropRest(Segment segment, List<RecordHeader> copied) {
    synchronized (log) {
      List<TierPage> rest = new ArrayList<>();
      for (RecordHeader record : copied) {
        if (index.isAt(record.page().id(), segment.number(), record.offset())) {
          rest.add(record.page());
        }
      }
      index.drop(rest);
    }
  }
}
