package io.radixflow.operators.tier;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A segment file of a running store. Opened when it is first used; once retired it is closed when
 * its last user leaves. Safe for several threads.
 */
final class Segment {
  private static final Logger LOG = LoggerFactory.getLogger(Segment.class);

  private final SegmentFiles files;
  private final SegmentHeader header;
  private SegmentFile file;
  private int users;
  private boolean retired;
  private final boolean encrypted;
  private long bytes;
  private long deadBytes;

  /** The last record and the checksum of its header; 0 if there is none. */
  private long last;

  private int lastCheck;

  /** The mark in the file; null if that cannot be read. */
  private Long mark;

  /** Whether the file has no other pages than the directory, and none to be destroyed. */
  private boolean settled = true;

  /** Whether the mark is one that no directory knows. */
  private boolean changed;

  /** Whether the directory is never to be told that it knows all of the file. */
  private boolean givenUp;

  /**
   * A segment without records.
   *
   * @param file open already, or null
   * @param mark of the file; null if it cannot be read
   * @param encrypted whether its pages are
   */
  Segment(
      SegmentFiles files, SegmentHeader header, SegmentFile file, Long mark, boolean encrypted) {
    this.files = files;
    this.header = header;
    this.file = file;
    this.mark = mark;
    this.encrypted = encrypted;
    this.bytes = SegmentHeader.BYTES;
  }

  long number() {
    return header.number();
  }

  SegmentHeader header() {
    return header;
  }

  long stamp() {
    return header.stamp();
  }

  /**
   * The file, to be {@link #release}d; null if the segment is retired.
   *
   * @throws IOException if it cannot be opened, or is another file than it was
   */
  synchronized SegmentFile acquire() throws IOException {
    if (retired) {
      return null;
    }
    if (file == null) {
      file = opened();
    }
    users++;
    return file;
  }

  private SegmentFile opened() throws IOException {
    SegmentFile found;
    try {
      found = files.open(number());
    } catch (NoSuchFileException e) {
      throw new SegmentMissException(MissReason.FILE_GONE, "segment " + number() + " is gone");
    }
    try {
      check(SegmentScan.header(found));
      return found;
    } catch (IOException e) {
      found.close();
      throw e;
    }
  }

  private void check(SegmentHeader now) throws SegmentMissException {
    if (now == null) {
      throw new SegmentMissException(
          MissReason.CHECKSUM, "segment " + number() + " has no right header");
    }
    if (!now.epoch().equals(header.epoch())) {
      throw new SegmentMissException(
          MissReason.EPOCH, "segment " + number() + " is of epoch " + now.epoch());
    }
    if (now.number() != number() || now.stamp() != stamp()) {
      throw new SegmentMissException(
          MissReason.DIGEST, "segment " + number() + " is another file than before");
    }
  }

  synchronized void release() {
    users--;
    closeIfUnused();
  }

  /** Deletes the file, if it is there. */
  void delete() throws IOException {
    files.delete(number());
  }

  /** No one gets the file any more. */
  synchronized void retire() {
    retired = true;
    closeIfUnused();
  }

  private void closeIfUnused() {
    if (retired && users == 0 && file != null) {
      try {
        file.close();
      } catch (IOException e) {
        LOG.warn("Segment {} did not close", number(), e);
      }
      file = null;
    }
  }

  synchronized long bytes() {
    return bytes;
  }

  /**
   * Records end here now.
   *
   * @param lastRecord offset of the last one
   * @param check checksum in its header
   */
  synchronized void end(long value, long lastRecord, int check) {
    bytes = value;
    last = lastRecord;
    lastCheck = check;
  }

  /** Called before a record changes in place: writes a mark that no directory knows. */
  synchronized void change(SegmentFile changing) throws IOException {
    if (changed) {
      return;
    }
    long next = ThreadLocalRandom.current().nextLong();
    changing.write(new ByteBuffer[] {SegmentMark.encode(next, stamp())}, 1, SegmentMark.AT);
    mark = next;
    changed = true;
  }

  /** What a directory that knows all of its pages may be told; null if none does. */
  synchronized PageDirectory.Coverage coverage() {
    return settled && !changed && mark != null
        ? new PageDirectory.Coverage(number(), stamp(), mark, encrypted, bytes, last, lastCheck)
        : null;
  }

  /**
   * Something is to be destroyed or repaired; whether that is new. See {@link PageIndex#unsettle}.
   */
  synchronized boolean unsettle() {
    boolean was = settled;
    settled = false;
    return was;
  }

  /** The directory will not know all of its pages any more. */
  synchronized void giveUp() {
    givenUp = true;
    settled = false;
  }

  /** Nothing is left to be destroyed or repaired; whether there was. */
  synchronized boolean settle() {
    boolean was = !givenUp && (changed || !settled);
    if (was) {
      settled = true;
      changed = false;
    }
    return was;
  }

  /** Bytes of records whose pages were removed or damaged. */
  synchronized long deadBytes() {
    return deadBytes;
  }

  synchronized void addDead(long count) {
    deadBytes += count;
  }
}
