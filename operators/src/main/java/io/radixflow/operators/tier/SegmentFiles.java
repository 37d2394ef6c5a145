package io.radixflow.operators.tier;

import java.io.IOException;
import java.util.List;

/** The files of a disk tier, by number. Tests put faults here. Safe for several threads. */
interface SegmentFiles extends AutoCloseable {

  /** Numbers of the segments that there are, ascending. */
  List<Long> list() throws IOException;

  /**
   * Opens a segment to be read and written; only to be read if it cannot be written.
   *
   * @throws java.nio.file.NoSuchFileException if it is not there
   */
  SegmentFile open(long number) throws IOException;

  /**
   * Makes a segment with a header. It appears whole: written under another name, forced to the
   * device, renamed.
   */
  SegmentFile create(SegmentHeader header) throws IOException;

  /** Deletes a segment if it is there. */
  void delete(long number) throws IOException;

  /** Bytes that are free on the file system. */
  long usableBytes() throws IOException;

  @Override
  void close() throws IOException;
}
