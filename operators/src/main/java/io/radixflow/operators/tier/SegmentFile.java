package io.radixflow.operators.tier;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A file of the disk tier, as far as the tier needs one. Safe for several threads. */
interface SegmentFile extends AutoCloseable {

  /** Bytes it has. */
  long size() throws IOException;

  /**
   * Fills a buffer.
   *
   * @return how many bytes were read; fewer than asked only at the end of the file
   */
  int read(ByteBuffer into, long position) throws IOException;

  /** Writes all bytes of the first {@code count} buffers, one after the other. */
  void write(ByteBuffer[] sources, int count, long position) throws IOException;

  /** Cuts the file. */
  void truncate(long size) throws IOException;

  /** What was written is on the device when this returns. */
  void force() throws IOException;

  @Override
  void close() throws IOException;
}
