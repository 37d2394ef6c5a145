package io.radixflow.kernels.cuda.pages;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaException;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.Transfer;
import io.radixflow.kernels.model.Attention;
import io.radixflow.kernels.model.ModelConfig;
import java.util.function.BooleanSupplier;

/**
 * KV pages on the device, bf16, layer-first: [layer][K or V][page][slot][KV head][element]; layers
 * of latent attention have no V. One page beyond the last is where padding writes to.
 */
public final class CudaKvPool implements KvPool {

  private final DeviceMemory memory;
  private final int pages;
  private final int pageTokens;
  private final int layers;

  /** Planes of a layer: keys and values, or keys alone. */
  private final int planes;

  private final long planePageBytes;
  private final BooleanSupplier onClose;
  private final CudaContext context;
  private PageTransfers transfers;
  private boolean closed;

  public CudaKvPool(
      CudaContext context, ModelConfig config, int pages, int pageTokens, BooleanSupplier onClose) {
    this.pages = pages;
    this.pageTokens = pageTokens;
    this.onClose = onClose;
    this.context = context;
    layers = config.layers();
    Attention attention = config.layer(0).attention();
    planes = attention.valueWidth() == 0 ? 1 : 2;
    planePageBytes =
        (long) pageTokens * attention.kvHeads() * attention.keyWidth() * KvSpec.Type.BF16.bytes();
    memory = context.allocate((long) planes * layers * (pages + 1) * planePageBytes, "the KV pool");
  }

  @Override
  public int pages() {
    return pages;
  }

  @Override
  public int pageTokens() {
    return pageTokens;
  }

  @Override
  public long pageBytes() {
    return planes * layers * planePageBytes;
  }

  /** A list of pages to move in or out. */
  public PageMoves moves(KernelModule module, int capacity) {
    int runBytes = Math.toIntExact(planePageBytes);
    return new PageMoves(context, module, memory, pages + 1, planes, runBytes, capacity);
  }

  /** Sets what moves pages. */
  public void moveWith(PageTransfers pageTransfers) {
    transfers = pageTransfers;
  }

  @Override
  public HostPages openHostPages(int hostPages) {
    context.bind();
    try {
      return new PinnedPages(context, hostPages, pageBytes());
    } catch (CudaException e) {
      throw new IllegalArgumentException(
          hostPages + " host pages of " + pageBytes() + " bytes: " + e.getMessage(), e);
    }
  }

  @Override
  public Transfer copyIn(int[] to, HostPages host, int[] hostPages, int count) {
    context.bind();
    return transfers.in(to, (PinnedPages) host, hostPages, count);
  }

  @Override
  public Transfer copyOut(int[] from, HostPages host, int[] hostPages, int count) {
    context.bind();
    return transfers.out(from, (PinnedPages) host, hostPages, count);
  }

  /** All of it. */
  public DeviceMemory memory() {
    return memory;
  }

  /** Keys of a layer: all pages. */
  public DeviceMemory keys(int layer) {
    return plane((long) planes * layer);
  }

  /** Values of a layer: all pages; there are none of latent attention. */
  public DeviceMemory values(int layer) {
    return plane((long) planes * layer + 1);
  }

  private DeviceMemory plane(long number) {
    long bytes = (pages + 1) * planePageBytes;
    return memory.slice(number * bytes, bytes);
  }

  /** The slot that padding writes to. */
  public int dummySlot() {
    return pages * pageTokens;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      if (onClose.getAsBoolean()) {
        memory.close();
      }
    }
  }
}
