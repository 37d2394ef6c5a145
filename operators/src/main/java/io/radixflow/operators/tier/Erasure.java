package io.radixflow.operators.tier;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Destroys the bytes of removed pages: overwrites them with zeros where they lie and forces that to
 * the device.
 *
 * <p>On the level of files that is as sure as rewriting the segment without them, and costs as much
 * as was removed, not as much as stayed. File systems that copy on write and the cells of a flash
 * disk may keep old bytes either way; whoever minds encrypts, see {@link TenantKeys}.
 *
 * <p>What fails is tried again. Safe for several threads.
 */
final class Erasure {

  /** Something that must succeed before bytes are gone. */
  @FunctionalInterface
  interface Step {
    void run() throws IOException;
  }

  private static final Logger LOG = LoggerFactory.getLogger(Erasure.class);
  private static final int CHUNK = 256 << 10;
  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(CHUNK).asReadOnlyBuffer();

  private final ConcurrentSkipListMap<Long, Step> pending = new ConcurrentSkipListMap<>();
  private final Set<Segment> dirty = new HashSet<>();
  private final List<Waiting> waiting = new ArrayList<>();
  private boolean failing;
  private long last;
  private long first;

  /** Who waits for all steps up to one. */
  private record Waiting(long upTo, CompletableFuture<Void> done) {}

  /** Puts a step in the queue. */
  synchronized void add(Step step) {
    pending.put(++last, step);
  }

  /**
   * Puts a step before all others: nothing is done before it is. For files that could not be
   * deleted, as what was to be erased in them is done otherwise.
   */
  synchronized void addFirst(Step step) {
    pending.put(--first, step);
  }

  /** Puts a record into the queue whose header is a hole's already, or is not to be trusted. */
  void addRecord(Segment segment, long offset, int length) {
    add(() -> erase(segment, offset, length));
  }

  boolean isEmpty() {
    return pending.isEmpty();
  }

  /** Makes a record's header that of a hole, at once. */
  static void makeHole(Segment segment, long offset, int recordBytes, boolean erased)
      throws IOException {
    SegmentFile file = segment.acquire();
    if (file == null) {
      return;
    }
    try {
      ByteBuffer header = ByteBuffer.allocate(RecordHeader.BYTES);
      int length = recordBytes - RecordHeader.BYTES;
      RecordHeader.hole(offset, length, segment.stamp(), erased).encode(header);
      segment.change(file);
      file.write(new ByteBuffer[] {header.flip()}, 1, offset);
    } finally {
      segment.release();
    }
  }

  private void erase(Segment segment, long offset, int length) throws IOException {
    SegmentFile file = acquire(segment);
    if (file == null) {
      return;
    }
    try {
      segment.change(file);
      zero(file, offset + RecordHeader.BYTES, offset + length);
    } finally {
      segment.release();
    }
    makeHole(segment, offset, length, true);
    dirty.add(segment);
  }

  /** A segment's file, to be released; null if there is nothing to destroy any more. */
  static SegmentFile acquire(Segment segment) throws IOException {
    try {
      return segment.acquire();
    } catch (SegmentMissException e) {
      // what is there in its place cannot be read as what it is: nobody misses it
      segment.delete();
      return null;
    }
  }

  private void zero(SegmentFile file, long from, long to) throws IOException {
    for (long at = from; at < to; at += CHUNK) {
      ByteBuffer part = ZEROS.duplicate().limit((int) Math.min(CHUNK, to - at));
      file.write(new ByteBuffer[] {part}, 1, at);
    }
  }

  /** Does what is in the queue; called by one thread at a time. */
  void run() {
    Set<Long> done = new HashSet<>();
    Exception failed = null;
    for (Map.Entry<Long, Step> step : pending.entrySet()) {
      try {
        step.getValue().run();
        done.add(step.getKey());
      } catch (IOException | RuntimeException e) {
        failed = e;
      }
    }
    if (failed != null && !failing) {
      LOG.warn("Removed pages are not destroyed yet; it is tried again", failed);
    }
    failing = failed != null;
    try {
      force();
    } catch (IOException e) {
      LOG.warn("Removed pages may not be destroyed on the device yet; it is tried again", e);
      return;
    }
    List<Waiting> told = new ArrayList<>();
    synchronized (this) {
      pending.keySet().removeAll(done);
      for (Waiting each : waiting) {
        if (isDone(each.upTo)) {
          told.add(each);
        }
      }
      waiting.removeAll(told);
    }
    told.forEach(each -> each.done.complete(null));
  }

  private boolean isDone(long upTo) {
    return pending.isEmpty() || pending.firstKey() > upTo;
  }

  /** Completes when what is in the queue now is done. */
  synchronized CompletableFuture<Void> done() {
    Waiting each = new Waiting(++last, new CompletableFuture<>());
    pending.put(each.upTo, () -> {});
    waiting.add(each);
    return each.done;
  }

  private void force() throws IOException {
    for (Segment segment : dirty) {
      SegmentFile file = acquire(segment);
      if (file != null) {
        try {
          file.force();
        } finally {
          segment.release();
        }
      }
    }
    dirty.clear();
  }
}
