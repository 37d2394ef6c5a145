package io.radixflow.kernels.cuda.pages;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaException;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.Transfer;
import io.radixflow.models.Attention;
import io.radixflow.models.ModelConfig;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.BooleanSupplier;
import jcuda.Pointer;

/**
 * KV pages on the device, layer-first: [layer][K or V][page][slot][KV head][element]; layers of
 * latent attention have no V. Padding writes to an additional page after the last page.
 *
 * <p>Elements are bf16 or 8-bit floats, in the order that rope_store.cuh and latent.cuh describe.
 * For 8-bit floats, the scales, [KV head][slot], follow the elements of each page in a plane.
 *
 * <p>With window parts, the entries of layers with an attention window are in separate memory of
 * the same layout. Its units are the parts, and it also has an additional part after the last part.
 */
public final class CudaKvPool implements KvPool {

  private final KvSpec.Type type;
  private final int pageTokens;
  private final PoolMemory inPages;

  /** The KV entries of layers with a window; null if the pages contain them. */
  private final PoolMemory inParts;

  /** The window part of each page; {@code parts()}, the additional part, if a page has none. */
  private final int[] partOf;

  private final boolean[] hasPart;

  /** The index of each layer among the layers with entries in the same memory. */
  private final int[] places;

  private final BooleanSupplier onClose;
  private final CudaContext context;
  private PageTransfers transfers;
  private boolean closed;

  /**
   * @param parts number of window parts; 0 if the pages contain the entries of all layers
   * @param onClose returns whether the memory must be freed
   */
  public CudaKvPool(
      CudaContext context,
      ModelConfig config,
      KvSpec.Type type,
      int pages,
      int parts,
      int pageTokens,
      BooleanSupplier onClose) {
    this.type = type;
    this.pageTokens = pageTokens;
    this.onClose = onClose;
    this.context = context;
    hasPart = new boolean[config.layers()];
    places = new int[config.layers()];
    List<PoolMemory.Planes> ofPages = new ArrayList<>();
    List<PoolMemory.Planes> ofParts = new ArrayList<>();
    for (int layer = 0; layer < places.length; layer++) {
      Attention attention = config.layer(layer).attention();
      hasPart[layer] = parts > 0 && attention.window() > 0;
      List<PoolMemory.Planes> layers = hasPart[layer] ? ofParts : ofPages;
      places[layer] = layers.size();
      layers.add(planes(attention));
    }
    partOf = new int[parts == 0 ? 0 : pages];
    Arrays.fill(partOf, parts);
    inPages = new PoolMemory(context, pages, ofPages, "the KV pool");
    try {
      inParts = parts == 0 ? null : new PoolMemory(context, parts, ofParts, "window parts");
    } catch (CudaException e) {
      inPages.close();
      throw e;
    }
  }

  private PoolMemory.Planes planes(Attention attention) {
    long vectors = (long) pageTokens * attention.kvHeads();
    int count = attention.valueWidth() == 0 ? 1 : 2;
    return new PoolMemory.Planes(count, vectors * type.vectorBytes(attention.keyWidth()));
  }

  /** The type of keys and values. */
  public KvSpec.Type type() {
    return type;
  }

  @Override
  public int pages() {
    return inPages.units();
  }

  @Override
  public int pageTokens() {
    return pageTokens;
  }

  @Override
  public long pageBytes() {
    return inPages.unitBytes();
  }

  @Override
  public int parts() {
    return inParts == null ? 0 : inParts.units();
  }

  @Override
  public long partBytes() {
    return inParts == null ? 0 : inParts.unitBytes();
  }

  @Override
  public void mapWindow(int page, int part) {
    partOf[page] = part < 0 ? parts() : Objects.checkIndex(part, parts());
  }

  /** Returns the window part of a page; {@code parts()} if it has none. */
  public int partOf(int page) {
    return partOf[page];
  }

  /** Returns whether a layer's entries are in window parts. */
  public boolean hasPart(int layer) {
    return hasPart[layer];
  }

  /**
   * Queues a fill of the window parts with zeros. A tile of attention also reads keys before the
   * window, whose pages may have no part. For these it reads the part after the last. That part
   * must contain finite numbers, because they are multiplied by a weight of 0.
   */
  public void clearParts(CudaStream stream) {
    if (inParts != null) {
      inParts.all().fillAsync((byte) 0, stream);
    }
  }

  /**
   * Queues a fill of the pages with random keys and values, for benchmarks. They are bf16 of both
   * signs, or 8-bit floats from 2 to 240 with scales from 2^-63 to 2^-8.
   */
  public void fillRandom(KernelModule module, CudaStream stream) {
    if (type == KvSpec.Type.FP8) {
      fillWithFloat8(inPages.all(), stream);
    } else {
      module.fillRandom(inPages.all(), 1, stream);
    }
  }

  /**
   * Writes some random bytes, each of which is both a finite code and a finite scale, and copies
   * them until the memory is full.
   */
  private static void fillWithFloat8(DeviceMemory memory, CudaStream stream) {
    byte[] some = new byte[(int) Math.min(memory.bytes(), 1 << 20)];
    new Random(1).nextBytes(some);
    for (int i = 0; i < some.length; i++) {
      some[i] = (byte) (some[i] & 0x37 | 0x40);
    }
    memory.write(Pointer.to(some), some.length);
    for (long filled = some.length; filled < memory.bytes(); filled *= 2) {
      long more = Math.min(filled, memory.bytes() - filled);
      memory.slice(filled, more).copyAsync(memory, more, stream);
    }
  }

  /** Creates a list of pages to move in or out. */
  public PageMoves moves(KernelModule module, int capacity) {
    return inPages.moves(module, capacity);
  }

  /** Creates a list of window parts to move in or out; null if there are no parts. */
  PageMoves partMoves(KernelModule module, int capacity) {
    return inParts == null ? null : inParts.moves(module, capacity);
  }

  /** Number of layers that have their entries in the pages. */
  int layersInPages() {
    return inPages.layers();
  }

  /** The index of a layer among the layers with entries in the same memory. */
  int place(int layer) {
    return places[layer];
  }

  /** Sets the transfers that move pages. */
  public void moveWith(PageTransfers pageTransfers) {
    transfers = pageTransfers;
  }

  @Override
  public HostPages openHostPages(int hostPages) {
    return openHostPages(hostPages, 0);
  }

  @Override
  public HostPages openHostPages(int hostPages, int hostParts) {
    if (hostParts > 0 == (inParts == null)) {
      throw new IllegalArgumentException(
          hostParts + " host window parts for a pool with " + parts());
    }
    context.bind();
    try {
      PinnedPages pinnedParts =
          hostParts == 0 ? null : new PinnedPages(context, hostParts, partBytes());
      return new PinnedPages(context, hostPages, pageBytes(), pinnedParts);
    } catch (CudaException e) {
      throw new IllegalArgumentException(
          String.format(
              "%s host pages of %s bytes, %s window parts of %s: %s",
              hostPages, pageBytes(), hostParts, partBytes(), e.getMessage()),
          e);
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

  /** The memory of all pages. */
  public DeviceMemory memory() {
    return inPages.all();
  }

  /** Keys of a layer in all pages or parts. */
  public DeviceMemory keys(int layer) {
    return memory(layer).plane(places[layer], 0);
  }

  /** Values of a layer in all pages or parts. Layers of latent attention have none. */
  public DeviceMemory values(int layer) {
    return memory(layer).plane(places[layer], 1);
  }

  private PoolMemory memory(int layer) {
    return hasPart[layer] ? inParts : inPages;
  }

  /** The slot of the pages that padding writes to. */
  public int dummySlot() {
    return pages() * pageTokens;
  }

  /** The slot of window parts that padding writes to. */
  public int dummyPartSlot() {
    return parts() * pageTokens;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      if (onClose.getAsBoolean()) {
        inPages.close();
        if (inParts != null) {
          inParts.close();
        }
      }
    }
  }
}
