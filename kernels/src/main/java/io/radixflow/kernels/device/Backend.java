package io.radixflow.kernels.device;

import io.radixflow.models.ModelConfig;

/**
 * A device with a model on it: the only interface between the engine and the hardware.
 *
 * <p>The interface is asynchronous, so that a GPU may run one step ahead of its host: {@link
 * #submit} returns at once, and a later batch may name an earlier ticket's output as its input
 * token.
 *
 * <p><b>Contract.</b> The logits of a token depend only on its prefix: not on the rest of the
 * batch, on how the prefill was cut into chunks, on the pages that store the prefix, or on the
 * number of threads. Steps run in the order of submission, and a row sees the KV entries of all
 * rows of earlier batches and of earlier positions in its own.
 *
 * <p><b>Threads.</b> One thread, the owner, calls {@link #submit} and {@link #close}. Tickets may
 * be read by the owner once done.
 */
public interface Backend extends AutoCloseable {

  /** A short lower-case name for logs, metrics and the numerics epoch: {@code cpu}, {@code sim}. */
  String name();

  /** One line for people: provider, vector width, threads, KV type. */
  String description();

  /** The shape of the model that this backend runs. */
  ModelConfig model();

  /** The layout of one KV page of this backend. */
  KvSpec kvSpec();

  /** The page sizes in tokens that {@link #openPool} accepts, ascending; never empty. */
  int[] pageTokens();

  /** The largest number of rows that one batch may hold. */
  int maxBatchRows();

  /**
   * Bytes of weights that a step over one row reads, as they are laid out on the device; 0 if that
   * is not known. For reports.
   */
  default long weightBytes() {
    return 0;
  }

  /**
   * Bytes that the KV pool may take on the device; -1 if the pool is in the heap; then the size of
   * the heap decides.
   */
  default long poolBytes() {
    return -1;
  }

  /**
   * Returns whether steps can still succeed. Once false it stays so: the backend can only be
   * closed, and its KV pages are lost.
   */
  default boolean isUsable() {
    return true;
  }

  /**
   * How many tickets the engine should keep in flight: 1 where a step ahead wins nothing, 2 for a
   * device that computes while its host prepares the next step.
   */
  int pipelineDepth();

  /**
   * Identifies everything that decides the bits of a KV page (weights, backend, arithmetic version,
   * KV type, page layout): pages and progress move only within one epoch. The tokenizer's
   * fingerprint is mixed in by the caller that knows it.
   *
   * @return 16 lower-case hexadecimal digits
   */
  String numericsEpoch();

  /**
   * Allocates the KV pool. At most one pool is open at a time.
   *
   * @param pages number of pages
   * @param pageTokens tokens per page, one of {@link #pageTokens()}
   * @throws IllegalArgumentException if the size is not supported or memory is too small; the
   *     message has the numbers
   */
  KvPool openPool(int pages, int pageTokens);

  /**
   * The most tokens that a query sees in layers whose entries the pool can keep in {@linkplain
   * KvPool#parts window parts}; 0 if it keeps all layers' entries in its pages.
   */
  default int partedWindow() {
    return kvSpec().window();
  }

  /**
   * Returns whether window parts can be copied between the pool and host memory, as pages are; not
   * of a model with a window in every layer, whose pages would have no bytes.
   */
  default boolean movesWindowParts() {
    return kvSpec().windowBytesPerToken() < kvSpec().bytesPerToken();
  }

  /**
   * Allocates a KV pool with window parts; otherwise as {@link #openPool(int, int)}.
   *
   * @param parts number of window parts; 0 to keep all layers' entries in the pages
   */
  default KvPool openPool(int pages, int parts, int pageTokens) {
    if (parts != 0) {
      throw new IllegalArgumentException("a pool of " + name() + " has no window parts");
    }
    return openPool(pages, pageTokens);
  }

  /**
   * Starts one step over {@code batch}; the caller may not touch the batch until the ticket is
   * done.
   *
   * <p>A failing step completes its ticket exceptionally ({@link StepTicket#failure()}); the
   * backend stays usable unless it says otherwise.
   */
  StepTicket submit(Batch batch);

  /** Waits for the step in flight, then frees threads and memory. Idempotent. */
  @Override
  void close();
}
