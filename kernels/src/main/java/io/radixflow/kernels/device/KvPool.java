package io.radixflow.kernels.device;

/**
 * The paged KV memory of one backend: pages {@code 0 .. pages()-1} of {@link #pageTokens()} tokens.
 *
 * <p>The pool shows no host address: what a page holds is the backend's business. Which pages are
 * free is the caller's ({@code engine.cache}).
 */
public interface KvPool extends AutoCloseable {

  /** Number of pages. */
  int pages();

  /** Tokens per page. */
  int pageTokens();

  /** Bytes of one page, K and V, over all layers but those in window parts. */
  long pageBytes();

  /**
   * Number of window parts; 0 if the pages hold the entries of all layers.
   *
   * <p>A window part holds what layers with an attention window keep of one page. There are fewer
   * of them than pages, as no query reaches most pages' entries in these layers.
   */
  default int parts() {
    return 0;
  }

  /** Bytes of one window part over all layers with a window, K and V. */
  default long partBytes() {
    return 0;
  }

  /**
   * Says which window part has a page's entries from now on. The backend's owner calls it before it
   * submits the first step that uses the part, and changes a page's only while no step in flight
   * reads or writes it: that step's queries lie beyond the window, or it does not have the page. So
   * a plain array holds the mapping, and submitting a step publishes it to the device's threads.
   *
   * @param part -1 for none: no step may come to the page's entries in these layers
   */
  default void mapWindow(int page, int part) {
    throw new UnsupportedOperationException("this device's pages have no window parts");
  }

  /**
   * Declares a page's content unneeded; a pool may overwrite it, after the steps submitted so far,
   * to make a later read of it show. Called by the backend's owner.
   */
  default void discard(int page) {}

  /** Declares a window part's content unneeded, as {@link #discard} a page's. */
  default void discardPart(int part) {}

  /**
   * Allocates host pages for this pool; any thread, as that may take long. Copies are the backend's
   * owner's to begin.
   *
   * @throws UnsupportedOperationException if the pool's pages do not move
   * @throws IllegalArgumentException if memory is lacking
   */
  default HostPages openHostPages(int pages) {
    throw new UnsupportedOperationException("this device's KV pages do not move");
  }

  /**
   * Allocates host memory for pages and window parts; otherwise as {@link #openHostPages(int)}.
   *
   * @param parts at least 1 if this pool has window parts, else 0
   */
  default HostPages openHostPages(int pages, int parts) {
    if (parts > 0) {
      throw new UnsupportedOperationException("this device's window parts do not move");
    }
    return openHostPages(pages);
  }

  /**
   * Starts to copy host pages into the pool, after the steps submitted so far. Steps submitted
   * later see the pages: they wait for each layer only as they come to it. One such copy is in
   * flight at a time: a second waits for the first.
   *
   * @param pages pages of the pool; from {@link #pages} on, its window parts
   * @param host from {@link #openHostPages} of this pool
   * @param hostPages where each comes from; from {@link HostPages#pages} on, window parts
   * @param count how many entries of both are valid
   */
  default Transfer copyIn(int[] pages, HostPages host, int[] hostPages, int count) {
    throw new UnsupportedOperationException("this device's KV pages do not move");
  }

  /**
   * Starts to copy pages to the host, after the steps submitted so far. They must not be written
   * until it has ended. One such copy is in flight at a time: a second waits for the first.
   *
   * @param pages pages of the pool; from {@link #pages} on, its window parts
   * @param host from {@link #openHostPages} of this pool
   * @param hostPages where each goes; from {@link HostPages#pages} on, window parts
   * @param count how many entries of both are valid
   */
  default Transfer copyOut(int[] pages, HostPages host, int[] hostPages, int count) {
    throw new UnsupportedOperationException("this device's KV pages do not move");
  }

  /** Frees the memory. Idempotent; no step may be in flight. */
  @Override
  void close();
}
