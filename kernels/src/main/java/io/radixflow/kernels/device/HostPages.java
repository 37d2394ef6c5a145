package io.radixflow.kernels.device;

import java.nio.ByteBuffer;

/**
 * Host memory that a pool's pages are copied to and from: pages {@code 0 .. pages()-1}, each
 * contiguous, and after them {@link #parts()} window parts. The caller keeps track of free pages
 * and parts.
 */
public interface HostPages extends AutoCloseable {

  /** Number of pages. */
  int pages();

  /** Number of window parts. */
  default int parts() {
    return 0;
  }

  /** Bytes per page, equal to {@link KvPool#pageBytes}. */
  long pageBytes();

  /**
   * Returns a page or a window part as a new buffer in native byte order. Any thread may call it.
   */
  ByteBuffer buffer(int page);

  /** Frees the memory, before the backend is closed. Idempotent; no transfer may be in flight. */
  @Override
  void close();
}
