package io.radixflow.kernels.cuda.pages;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaException;
import io.radixflow.kernels.device.HostPages;
import java.nio.ByteBuffer;

/** Pinned host pages of a pool. */
final class CudaHostPages implements HostPages {

  private final CudaContext context;
  private final PinnedPages pages;

  CudaHostPages(CudaContext context, int pages, long pageBytes) {
    this.context = context;
    this.pages = new PinnedPages(context, pages, pageBytes);
  }

  PinnedPages pinned() {
    return pages;
  }

  @Override
  public int pages() {
    return pages.pages();
  }

  @Override
  public long pageBytes() {
    return pages.pageBytes();
  }

  @Override
  public ByteBuffer buffer(int page) {
    return pages.buffer(page);
  }

  @Override
  public void close() {
    try {
      context.bind();
    } catch (CudaException e) {
      context.noteFailure(e);
    }
    pages.close();
  }
}
