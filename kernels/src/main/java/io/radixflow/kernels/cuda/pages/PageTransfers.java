package io.radixflow.kernels.cuda.pages;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaEvent;
import io.radixflow.kernels.cuda.driver.CudaException;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.device.Transfer;

/**
 * Copies pages and window parts between a pool and pinned host memory, on a separate stream, which
 * runs at the same time as the forward pass.
 *
 * <p>Pages are copied into the pool layer by layer, and each layer has an event. The step that is
 * queued next waits for the event only when it reaches that layer. Copies start when all steps
 * queued before them are done, because these steps may use the pages. Only one transfer per
 * direction runs at a time; the next one waits for it on the host.
 *
 * <p>Owned by the thread that submits.
 */
public final class PageTransfers implements AutoCloseable {

  /** The largest number of pages and window parts per transfer. */
  static final int MAX_PAGES = 4096;

  private final CudaKvPool pool;
  private final int layers;
  private final CudaStream steps;
  private final CudaStream copies;
  private final CudaEvent stepsDone;
  private final CudaEvent[] layerIn;
  private final Direction in;
  private final Direction out;
  private boolean loading;

  public PageTransfers(
      CudaContext context, KernelModule module, CudaKvPool pool, int layers, CudaStream steps) {
    this.pool = pool;
    this.layers = layers;
    this.steps = steps;
    copies = context.newStream("pages");
    stepsDone = context.newEvent();
    layerIn = new CudaEvent[layers];
    for (int layer = 0; layer < layers; layer++) {
      layerIn[layer] = context.newEvent();
    }
    in = new Direction(context, module, pool);
    out = new Direction(context, module, pool);
  }

  /**
   * The lists of pages and window parts of one direction, and the event that marks the end of the
   * transfer.
   */
  private static final class Direction implements Transfer {
    private final CudaKvPool pool;
    private final PageMoves pages;

    /** List of window parts; null if the pool has none. */
    private final PageMoves parts;

    private final CudaContext context;
    private final CudaEvent ended;
    private volatile RuntimeException failure;

    Direction(CudaContext context, KernelModule module, CudaKvPool pool) {
      this.context = context;
      this.pool = pool;
      pages = pool.moves(module, MAX_PAGES);
      parts = pool.partMoves(module, MAX_PAGES);
      ended = context.newEvent();
    }

    /** Returns the list that contains a layer's entries. */
    PageMoves of(int layer) {
      return pool.hasPart(layer) ? parts : pages;
    }

    @Override
    public boolean isDone() {
      if (failure != null) {
        return true;
      }
      try {
        context.bind();
        return ended.isDone();
      } catch (CudaException e) {
        failure = e;
        return true;
      }
    }

    @Override
    public void await() {
      if (failure == null) {
        try {
          context.bind();
          ended.synchronize();
        } catch (CudaException e) {
          failure = e;
        }
      }
    }

    @Override
    public Throwable failure() {
      return failure;
    }

    void begin(int[] units, PinnedPages host, int[] hostUnits, int count) {
      await();
      failure = null;
      clear();
      for (int i = 0; i < count; i++) {
        boolean part = units[i] >= pool.pages();
        if (part != hostUnits[i] >= host.pages() || part && parts == null) {
          clear();
          throw new IllegalArgumentException(
              String.format(
                  "page %s of %s and host page %s of %s: only one of them is a window part",
                  units[i], pool.pages(), hostUnits[i], host.pages()));
        }
        long address = host.address(hostUnits[i]);
        (part ? parts : pages).add(address, part ? units[i] - pool.pages() : units[i]);
      }
    }

    private void clear() {
      pages.clear();
      if (parts != null) {
        parts.clear();
      }
    }

    void close() {
      await();
      pages.close();
      if (parts != null) {
        parts.close();
      }
    }
  }

  /** Queues copies into the pool. */
  Transfer in(int[] pages, PinnedPages host, int[] hostPages, int count) {
    check(count);
    in.begin(pages, host, hostPages, count);
    afterSteps();
    for (int layer = 0; layer < layers; layer++) {
      in.of(layer).in(copies, pool.place(layer), 1);
      layerIn[layer].record(copies);
    }
    in.ended.record(copies);
    loading = true;
    return in;
  }

  /** Queues copies out of the pool. The pages must not be written before the transfer ends. */
  Transfer out(int[] pages, PinnedPages host, int[] hostPages, int count) {
    check(count);
    out.begin(pages, host, hostPages, count);
    afterSteps();
    out.pages.out(copies, 0, pool.layersInPages());
    if (out.parts != null) {
      out.parts.out(copies, 0, layers - pool.layersInPages());
    }
    out.ended.record(copies);
    return out;
  }

  private static void check(int count) {
    if (count > MAX_PAGES) {
      throw new IllegalArgumentException(
          "a transfer of " + count + " pages; at most " + MAX_PAGES + " are possible");
    }
  }

  private void afterSteps() {
    stepsDone.record(steps);
    copies.waitFor(stepsDone);
  }

  /** Returns whether the next step must wait for the layers, with {@link #awaitLayer}. */
  public boolean isLoading() {
    loading = loading && !in.isDone();
    return loading;
  }

  /** Makes the steps that are queued from now on wait for a layer. */
  public void awaitLayer(int layer) {
    steps.waitFor(layerIn[layer]);
  }

  /** Notes that the queued steps wait for all layers, so later steps need not wait. */
  public void awaited() {
    loading = false;
  }

  @Override
  public void close() {
    in.close();
    out.close();
  }
}
