package io.radixflow.kernels.device;

import java.nio.ByteBuffer;

/**
 * Host memory that a pool's pages are copied to and from: pages {@code 0 .. pages()-1}, each
 * contiguous. Which are free is the caller's business.
 */
public interface HostPages extends AutoCloseable {

  /** Number of pages. */
  int pages();

  /** Bytes of a page, those of {@link KvPool#pageBytes}. */
  long pageBytes();

  /** A page as a buffer in native byte order, made anew by each call; for any thread. */
  ByteBuffer buffer(int page);

  /** Frees the memory, before the backend is closed. Idempotent; no transfer may be under way. */
  @Override
  void close();
}
