package io.radixflow.kernels.device;

import io.radixflow.models.ModelConfig;

/**
 * A device that runs one model. This is the only interface between the engine and the hardware.
 *
 * <p>The interface is asynchronous, so that the engine can prepare the next step while a GPU
 * computes. {@link #submit} returns at once, and a batch can use an output of an earlier ticket as
 * its input token.
 *
 * <p><b>Contract.</b> The logits of a token depend only on its prefix. They do not depend on the
 * rest of the batch, the chunks of the prefill, the pages that store the prefix, or the number of
 * threads. Steps run in the order of submission. A row sees the KV entries that earlier batches
 * wrote and the entries of earlier positions in its own batch.
 *
 * <p><b>Threads.</b> One thread, the owner, calls {@link #submit} and {@link #close}. The owner may
 * read a ticket once it is done.
 */
public interface Backend extends AutoCloseable {

  /** A short lower-case name for logs, metrics and the numerics epoch: {@code cpu}, {@code sim}. */
  String name();

  /** A one-line description for people: provider, vector width, threads, KV type. */
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
   * Bytes of weights that a step with one row reads, in the device's layout; 0 if unknown. Only for
   * reports.
   */
  default long weightBytes() {
    return 0;
  }

  /**
   * Bytes of device memory that the KV pool may use; -1 if the pool is in the memory of this
   * machine, which is then the limit.
   */
  default long poolBytes() {
    return -1;
  }

  /** Returns whether a pool in the memory of this machine is outside Java's heap. */
  default boolean poolIsOutsideHeap() {
    return false;
  }

  /**
   * Returns whether steps can still succeed. Once this is false, it stays false: the KV pages are
   * lost, and the only thing left to do is to close the backend.
   */
  default boolean isUsable() {
    return true;
  }

  /**
   * How many tickets the engine should keep in flight: 2 for a device that computes while its host
   * prepares the next step, 1 if submitting a step early gains nothing.
   */
  int pipelineDepth();

  /**
   * Identifies everything that decides the bits of a KV page: weights, backend, arithmetic version,
   * KV type and page layout. Pages and unfinished replies can be moved only between processes with
   * the same epoch. The caller adds the tokenizer's fingerprint.
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
   * Returns whether window parts can be copied between the pool and host memory, as pages can. This
   * is false for a model with a window in every layer, because its pages would have no bytes.
   */
  default boolean movesWindowParts() {
    return kvSpec().windowBytesPerToken() < kvSpec().bytesPerToken();
  }

  /**
   * Allocates a KV pool with window parts. Otherwise the same as {@link #openPool(int, int)}.
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
   * Starts one step over {@code batch}. The caller must not change the batch until the ticket is
   * done.
   *
   * <p>If the step fails, its ticket completes with {@link StepTicket#failure()}. The backend stays
   * usable unless {@link #isUsable} says otherwise.
   */
  StepTicket submit(Batch batch);

  /** Waits for the step in flight, then frees threads and memory. Idempotent. */
  @Override
  void close();
}
