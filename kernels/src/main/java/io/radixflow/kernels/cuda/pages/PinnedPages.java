package io.radixflow.kernels.cuda.pages;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaException;
import io.radixflow.kernels.cuda.driver.PinnedMemory;
import io.radixflow.kernels.device.HostPages;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Host pages in pinned memory, in as many slabs as are needed, and window parts, whose numbers
 * follow the numbers of the pages. Any thread may read, write and close them. Closing waits for the
 * device.
 */
public final class PinnedPages implements HostPages {

  private final CudaContext context;
  private final long pageBytes;
  private final int pages;
  private final int pagesPerSlab;
  private final List<PinnedMemory> slabs = new ArrayList<>();

  /** The window parts; null for none. */
  private final PinnedPages parts;

  /**
   * @param pageBytes a multiple of 16, at most {@link PinnedMemory#MAX_SLAB}
   */
  public PinnedPages(CudaContext context, int pages, long pageBytes) {
    this(context, pages, pageBytes, null);
  }

  /**
   * @param parts memory of window parts, which is closed together with the pages, even if this
   *     constructor fails; null for none
   */
  PinnedPages(CudaContext context, int pages, long pageBytes, PinnedPages parts) {
    this(context, pages, pageBytes, parts, PinnedMemory.MAX_SLAB);
  }

  PinnedPages(CudaContext context, int pages, long pageBytes, PinnedPages parts, long slabBytes) {
    this.context = context;
    this.pages = pages;
    this.pageBytes = pageBytes;
    this.parts = parts;
    if (pages < 1 || pageBytes < 16 || pageBytes % 16 != 0 || pageBytes > slabBytes) {
      close();
      throw new IllegalArgumentException(
          pages + " pinned pages of " + pageBytes + " bytes in slabs of " + slabBytes);
    }
    pagesPerSlab = (int) Math.min(pages, slabBytes / pageBytes);
    try {
      for (int first = 0; first < pages; first += pagesPerSlab) {
        long bytes = Math.min(pagesPerSlab, pages - first) * pageBytes;
        slabs.add(context.allocatePinned(bytes, "pinned pages"));
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  @Override
  public int pages() {
    return pages;
  }

  @Override
  public int parts() {
    return parts == null ? 0 : parts.pages();
  }

  @Override
  public long pageBytes() {
    return pageBytes;
  }

  /** The address of a page or window part. It is the same for host and device. */
  public long address(int page) {
    if (isPart(page)) {
      return parts.address(page - pages);
    }
    return slab(page).address() + offset(page);
  }

  /** A page or window part as memory for copies. Each call creates a new object. */
  public PinnedMemory page(int page) {
    if (isPart(page)) {
      return parts.page(page - pages);
    }
    return slab(page).slice(offset(page), pageBytes);
  }

  @Override
  public ByteBuffer buffer(int page) {
    return page(page).buffer();
  }

  private boolean isPart(int page) {
    return parts != null && page >= pages;
  }

  @Override
  public void close() {
    if (parts != null) {
      parts.close();
    }
    try {
      context.bind();
    } catch (CudaException e) {
      context.noteFailure(e);
    }
    slabs.forEach(PinnedMemory::close);
    slabs.clear();
  }

  private PinnedMemory slab(int page) {
    if (page < 0 || page >= pages) {
      throw new IndexOutOfBoundsException("pinned page " + page + " of " + pages);
    }
    return slabs.get(page / pagesPerSlab);
  }

  private long offset(int page) {
    return page % pagesPerSlab * pageBytes;
  }
}
