package io.radixflow.kernels.device;

import java.nio.ByteBuffer;

/** Host memory for pages and for window parts. The numbers of parts follow the numbers of pages. */
public final class HostPagesAndParts implements HostPages {
  private final HostPages pages;
  private final HostPages parts;

  /**
   * @param parts its pages are the window parts, and have the size of one
   */
  public HostPagesAndParts(HostPages pages, HostPages parts) {
    this.pages = pages;
    this.parts = parts;
  }

  /** Allocates host memory in the heap. If {@code parts} is 0, it is for pages only. */
  public static HostPages inHeap(int pages, long pageBytes, int parts, long partBytes) {
    HostPages whole = new HeapPages(pages, pageBytes);
    return parts == 0 ? whole : new HostPagesAndParts(whole, new HeapPages(parts, partBytes));
  }

  @Override
  public int pages() {
    return pages.pages();
  }

  @Override
  public int parts() {
    return parts.pages();
  }

  @Override
  public long pageBytes() {
    return pages.pageBytes();
  }

  @Override
  public ByteBuffer buffer(int page) {
    return page < pages.pages() ? pages.buffer(page) : parts.buffer(page - pages.pages());
  }

  @Override
  public void close() {
    pages.close();
    parts.close();
  }
}
