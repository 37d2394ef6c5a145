package io.radixflow.kernels.cuda.pages;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaException;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.Transfer;
import io.radixflow.kernels.model.ModelConfig;
import java.util.function.BooleanSupplier;

/**
 * KV pages on the device, bf16, layer-first: [layer][K or V][page][slot][KV head][element]. One
 * page beyond the last is where padding writes to.
 */
public final class CudaKvPool implements KvPool {

  private final DeviceMemory memory;
  private final int pages;
  private final int pageTokens;
  private final int layers;
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
    planePageBytes =
        (long) pageTokens * config.kvHeads() * config.headDim() * KvSpec.Type.BF16.bytes();
    memory = context.allocate(2L * layers * (pages + 1) * planePageBytes, "the KV pool");
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
    return 2 * layers * planePageBytes;
  }

  /** A list of pages to move in or out. */
  public PageMoves moves(KernelModule module, int capacity) {
    int runBytes = Math.toIntExact(planePageBytes);
    return new PageMoves(context, module, memory, pages + 1, runBytes, capacity);
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
    return plane(2L * layer);
  }

  /** Values of a layer: all pages. */
  public DeviceMemory values(int layer) {
    return plane(2L * layer + 1);
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
