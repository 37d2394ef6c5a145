package io.radixflow.kernels.device;

/**
 * The paged KV memory of one backend: pages {@code 0 .. pages()-1} of {@link #pageTokens()} tokens.
 *
 * <p>The pool does not expose addresses. The backend defines the content of a page, and the caller
 * ({@code engine.cache}) keeps track of free pages.
 */
public interface KvPool extends AutoCloseable {

  /** Number of pages. */
  int pages();

  /** Tokens per page. */
  int pageTokens();

  /** Bytes of one page: K and V of all layers except the layers in window parts. */
  long pageBytes();

  /**
   * Number of window parts; 0 if the pages contain the entries of all layers.
   *
   * <p>A window part contains one page's entries in the layers that have an attention window. There
   * are fewer parts than pages, because most pages are outside every window.
   */
  default int parts() {
    return 0;
  }

  /** Bytes of one window part: K and V of all layers with a window. */
  default long partBytes() {
    return 0;
  }

  /**
   * Sets the window part that stores a page's entries from now on.
   *
   * <p>The backend's owner calls this before it submits the first step that uses the part. It
   * changes the part of a page only while no step in flight reads or writes that part. So the
   * mapping is a plain array, and submitting a step publishes it to the device's threads.
   *
   * @param part -1 for none; then no step may access the page's entries in these layers
   */
  default void mapWindow(int page, int part) {
    throw new UnsupportedOperationException("this device's pages have no window parts");
  }

  /**
   * Declares that a page's content is no longer needed. After the steps submitted so far, a pool
   * may overwrite the page, so that an erroneous read is noticed. The backend's owner calls it.
   */
  default void discard(int page) {}

  /**
   * Declares that a window part's content is no longer needed, like {@link #discard} for a page.
   */
  default void discardPart(int part) {}

  /**
   * Allocates host pages for this pool. Any thread may call it, because it can take long. Only the
   * backend's owner may start copies.
   *
   * @throws UnsupportedOperationException if the pool's pages cannot be copied
   * @throws IllegalArgumentException if memory is lacking
   */
  default HostPages openHostPages(int pages) {
    throw new UnsupportedOperationException("this device's KV pages do not move");
  }

  /**
   * Allocates host memory for pages and window parts. Otherwise the same as {@link
   * #openHostPages(int)}.
   *
   * @param parts at least 1 if this pool has window parts, else 0
   */
  default HostPages openHostPages(int pages, int parts) {
    if (parts > 0) {
      throw new UnsupportedOperationException("this device cannot copy window parts");
    }
    return openHostPages(pages);
  }

  /**
   * Starts to copy host pages into the pool, after the steps submitted so far. Steps submitted
   * later see the pages; they wait for each layer only when they need it. Only one copy to the pool
   * runs at a time; a second one waits for the first.
   *
   * @param pages pages of the pool; numbers from {@link #pages} on are its window parts
   * @param host from {@link #openHostPages} of this pool
   * @param hostPages the source of each copy; numbers from {@link HostPages#pages} on are window
   *     parts
   * @param count number of valid entries in both arrays
   */
  default Transfer copyIn(int[] pages, HostPages host, int[] hostPages, int count) {
    throw new UnsupportedOperationException("this device's KV pages do not move");
  }

  /**
   * Starts to copy pages to the host, after the steps submitted so far. The pages must not be
   * written until the copy has ended. Only one copy from the pool runs at a time; a second one
   * waits for the first.
   *
   * @param pages pages of the pool; numbers from {@link #pages} on are its window parts
   * @param host from {@link #openHostPages} of this pool
   * @param hostPages the target of each copy; numbers from {@link HostPages#pages} on are window
   *     parts
   * @param count number of valid entries in both arrays
   */
  default Transfer copyOut(int[] pages, HostPages host, int[] hostPages, int count) {
    throw new UnsupportedOperationException("this device's KV pages do not move");
  }

  /** Frees the memory. Idempotent; no step or copy may be in flight. */
  @Override
  void close();
}
