package io.radixflow.kernels.device;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Host pages in the heap, for devices whose pool is also in the heap. The pages are stored in as
 * many arrays as necessary. Any thread may read and write the pages.
 */
public final class HeapPages implements HostPages {
  private static final long MAX_SLAB = 1L << 30;

  private final int pages;
  private final int pageBytes;
  private final int pagesPerSlab;
  private final List<ByteBuffer> slabs = new ArrayList<>();

  /**
   * @param pages at least 1
   * @param pageBytes bytes of a page, at most 1 GiB
   * @throws IllegalArgumentException if there is not enough memory; the message contains the sizes
   */
  public HeapPages(int pages, long pageBytes) {
    if (pages < 1 || pageBytes < 1 || pageBytes > MAX_SLAB) {
      throw new IllegalArgumentException(pages + " host pages of " + pageBytes + " bytes");
    }
    this.pages = pages;
    this.pageBytes = (int) pageBytes;
    pagesPerSlab = (int) Math.min(pages, MAX_SLAB / pageBytes);
    long bytes = pages * pageBytes;
    // A failing allocation fills the heap first, so that allocations of other threads fail too.
    if (bytes > free()) {
      Runtime.getRuntime().gc();
      if (bytes > free()) {
        throw tooLarge(bytes, null);
      }
    }
    try {
      for (int first = 0; first < pages; first += pagesPerSlab) {
        slabs.add(ByteBuffer.allocate(Math.min(pagesPerSlab, pages - first) * this.pageBytes));
      }
    } catch (OutOfMemoryError e) {
      close();
      throw tooLarge(bytes, e);
    }
  }

  /**
   * Returns the bytes that the heap can still use. Garbage that is not collected yet counts as
   * used.
   */
  private static long free() {
    Runtime runtime = Runtime.getRuntime();
    return runtime.maxMemory() - (runtime.totalMemory() - runtime.freeMemory());
  }

  private static IllegalArgumentException tooLarge(long bytes, Throwable cause) {
    return new IllegalArgumentException(
        String.format(
            Locale.ROOT,
            "host pages of %d MB do not fit into the heap, which has %d MB left of %d MB; use a"
                + " smaller host tier or a larger -Xmx",
            bytes >> 20,
            free() >> 20,
            Runtime.getRuntime().maxMemory() >> 20),
        cause);
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
    if (page < 0 || page >= pages) {
      throw new IndexOutOfBoundsException("host page " + page + " of " + pages);
    }
    return slabs
        .get(page / pagesPerSlab)
        .slice(page % pagesPerSlab * pageBytes, pageBytes)
        .order(ByteOrder.nativeOrder());
  }

  @Override
  public void close() {
    slabs.clear();
  }
}
