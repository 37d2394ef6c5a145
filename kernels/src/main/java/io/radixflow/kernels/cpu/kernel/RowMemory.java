package io.radixflow.kernels.cpu.kernel;

import java.util.HashSet;
import java.util.Set;

/** The memory of a backend's rows, vectors and scratch. Safe for many threads. */
public final class RowMemory implements AutoCloseable {

  private final Set<OffHeap> open = new HashSet<>();

  /**
   * Allocates zeros.
   *
   * @throws OutOfMemoryError if there is not enough memory
   */
  public synchronized Floats floats(int length) {
    OffHeap memory = new OffHeap(1, 4L * length);
    open.add(memory);
    return new Floats(memory);
  }

  /** Returns at least {@code length} floats: the old ones, or new zeros instead of them. */
  public Floats grown(Floats old, int length) {
    if (old.length() >= length) {
      return old;
    }
    free(old);
    return floats(length);
  }

  private synchronized void free(Floats floats) {
    if (floats.memory != null && open.remove(floats.memory)) {
      floats.memory.close();
    }
  }

  /** Frees all memory. Idempotent; no thread may use it afterwards. */
  @Override
  public synchronized void close() {
    open.forEach(OffHeap::close);
    open.clear();
  }
}
