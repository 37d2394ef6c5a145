package io.radixflow.kernels.cuda.pages;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.driver.PinnedMemory;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A list of KV pages to move between the pool, which is layer-first, and page-first pages
 * elsewhere: pinned host memory, or device memory that is then copied at once. Page-first is
 * [plane][slot][KV head][element]; a plane is the keys or values of one layer.
 *
 * <p>The device reads the list while it moves the pages. Change the list only when everything that
 * was queued with it is done. Only one thread at a time may use it.
 */
public final class PageMoves implements AutoCloseable {

  private static final int THREADS = 256;

  /** Few blocks, because transfers share the device with the forward pass. */
  private static final int BLOCKS = 16;

  /** Indexes of the kernels' parameters that differ from call to call. */
  private static final int FIRST_PLANE = 5;

  private static final int PLANES = 6;

  private static final int HEADER = 16;
  private static final int ENTRY = 16;

  private final PinnedMemory list;
  private final ByteBuffer entries;
  private final int capacity;
  private final int poolPages;
  private final List<Band> bands;
  private final KernelLaunch[] in;
  private final KernelLaunch[] out;
  private int count;

  /**
   * Consecutive layers of one shape.
   *
   * @param memory the pages of these layers, [plane][page][run]
   * @param offset byte offset of these layers in a page-first page
   * @param first the first of these layers
   * @param layers number of layers
   * @param planes planes per layer: 2 for keys and values, 1 for keys only
   * @param runBytes bytes of one page in one plane
   */
  record Band(DeviceMemory memory, long offset, int first, int layers, int planes, int runBytes) {

    Band {
      if (runBytes % 16 != 0) {
        throw new IllegalArgumentException(
            "runs of " + runBytes + " bytes; they must be multiples of 16");
      }
    }
  }

  /**
   * @param bands all layers of the pool
   * @param poolPages pages per plane
   * @param capacity the largest number of pages in a list
   */
  PageMoves(
      CudaContext context, KernelModule module, List<Band> bands, int poolPages, int capacity) {
    this.poolPages = poolPages;
    this.bands = List.copyOf(bands);
    this.capacity = capacity;
    list = context.allocatePinned(HEADER + (long) capacity * ENTRY, "a list of pages to move");
    entries = list.buffer();
    in = launches(module, "rf_pages_in");
    out = launches(module, "rf_pages_out");
    clear();
  }

  private KernelLaunch[] launches(KernelModule module, String kernel) {
    KernelLaunch[] launches = new KernelLaunch[bands.size()];
    for (int i = 0; i < launches.length; i++) {
      Band band = bands.get(i);
      launches[i] =
          module
              .launch(kernel)
              .wide(list.address() + HEADER)
              .wide(list.address())
              .pointer(band.memory())
              .integer(poolPages)
              .integer(band.runBytes())
              .integer(0)
              .integer(0)
              .wide(band.offset())
              .block(THREADS);
    }
    return launches;
  }

  /** Empties the list. */
  void clear() {
    count = 0;
    entries.putInt(0, 0);
  }

  /**
   * Appends a page.
   *
   * @param address address of the page-first page, a multiple of 16
   * @param page number of the page in the pool
   */
  public void add(long address, int page) {
    if (count == capacity) {
      throw new IllegalStateException("the list has room for " + capacity + " pages");
    }
    if (page < 0 || page >= poolPages || address % 16 != 0) {
      throw new IllegalArgumentException(
          "page " + page + " of " + poolPages + ", address " + Long.toHexString(address));
    }
    int at = HEADER + count * ENTRY;
    entries.putLong(at, address).putInt(at + Long.BYTES, page);
    count++;
    entries.putInt(0, count);
  }

  /** Queues the copies into the pool of layers {@code first} to {@code first + layers - 1}. */
  public void in(CudaStream stream, int first, int layers) {
    queue(in, stream, first, layers);
  }

  /** Queues the copies out of the pool of layers {@code first} to {@code first + layers - 1}. */
  public void out(CudaStream stream, int first, int layers) {
    queue(out, stream, first, layers);
  }

  private void queue(KernelLaunch[] launches, CudaStream stream, int first, int layers) {
    for (int i = 0; i < launches.length && count > 0; i++) {
      Band band = bands.get(i);
      int from = Math.max(first - band.first(), 0);
      int planes = (Math.min(first + layers - band.first(), band.layers()) - from) * band.planes();
      if (planes > 0) {
        launches[i].setInteger(FIRST_PLANE, from * band.planes());
        launches[i].setInteger(PLANES, planes);
        launches[i].grid((int) Math.min(BLOCKS, (long) count * planes)).on(stream);
      }
    }
  }

  @Override
  public void close() {
    list.close();
  }
}
