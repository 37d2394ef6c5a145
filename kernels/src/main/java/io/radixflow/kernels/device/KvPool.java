package io.radixflow.kernels.device;

/**
 * The paged KV memory of one backend: pages {@code 0 .. pages()-1} of {@link #pageTokens()} tokens.
 *
 * <p>The pool shows no host address: what a page holds is the backend's business. Which pages are
 * free is the caller's ({@code operators.cache}).
 */
public interface KvPool extends AutoCloseable {

  /** Number of pages. */
  int pages();

  /** Tokens a page. */
  int pageTokens();

  /** Bytes of one page over all layers, K and V. */
  long pageBytes();

  /**
   * Tells that nobody needs what a page holds any more; a pool may overwrite it, after the steps
   * submitted so far, to make a later read of it show. Called by the backend's owner.
   */
  default void discard(int page) {}

  /** Frees the memory. Idempotent; no step may be in flight. */
  @Override
  void close();
}
