package io.radixflow.kernels.cpu.attention;

import io.radixflow.kernels.cpu.kernel.OffHeap;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.kernels.device.HostPagesAndParts;
import io.radixflow.kernels.device.MemorySource;
import io.radixflow.kernels.device.MemoryStatus;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;
import java.util.Objects;

/** Host pages outside the heap. Any thread may read and write them until they are closed. */
final class OffHeapPages implements HostPages {

  private final int pages;
  private final int pageBytes;
  private final OffHeap memory;

  /**
   * @throws IllegalArgumentException if there is not enough memory; the message contains the size
   */
  OffHeapPages(int pages, long pageBytes) {
    MemoryStatus status = MemorySource.system().now();
    if (pages * pageBytes > status.leftOutside()) {
      throw tooLarge(pages * pageBytes, status, null);
    }
    try {
      memory = new OffHeap(pages, pageBytes);
    } catch (OutOfMemoryError e) {
      throw tooLarge(pages * pageBytes, status, e);
    }
    this.pages = pages;
    this.pageBytes = (int) pageBytes;
  }

  private static IllegalArgumentException tooLarge(
      long bytes, MemoryStatus status, OutOfMemoryError cause) {
    return new IllegalArgumentException(
        String.format(
            Locale.ROOT,
            "host pages of %d MB do not fit next to the heap; %s; use a smaller host tier or a"
                + " smaller -Xmx",
            bytes >> 20,
            status.text()),
        cause);
  }

  /** Allocates pages and window parts. */
  static HostPages open(int pages, long pageBytes, int parts, long partBytes) {
    OffHeapPages whole = new OffHeapPages(pages, pageBytes);
    try {
      return parts == 0 ? whole : new HostPagesAndParts(whole, new OffHeapPages(parts, partBytes));
    } catch (IllegalArgumentException e) {
      whole.close();
      throw e;
    }
  }

  @Override
  public int pages() {
    return pages;
  }

  @Override
  public long pageBytes() {
    return pageBytes;
  }

  @Override
  public ByteBuffer buffer(int page) {
    Objects.checkIndex(page, pages);
    return memory.buffer(page).slice(memory.at(page), pageBytes).order(ByteOrder.nativeOrder());
  }

  @Override
  public void close() {
    memory.close();
  }
}
