package io.radixflow.kernels.cpu.attention;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.OffHeap;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.kernels.device.HostPagesAndParts;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.OrderedTransfer;
import io.radixflow.kernels.device.Transfer;
import io.radixflow.kernels.device.Uninterruptibly;
import io.radixflow.models.Attention;
import io.radixflow.models.ModelConfig;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * KV pages outside the heap, as floats, binary16 or 8-bit floats.
 *
 * <p>A page contains, for each layer and KV head in turn, K as [element][token] and V as
 * [token][element]: attention computes in lanes of tokens for K and of elements for V. A layer of
 * latent attention has only K. With 8-bit floats, the scales of K and of V, one byte per token,
 * follow the elements. The entries of layers with an attention window may be in a window part
 * instead of the page.
 *
 * <p>The caller keeps track of the pages' contents. Workers write and read the pool. Rows of one
 * step write different slots, and a step's writes happen in an earlier region than its reads.
 */
public final class CpuKvPool implements KvPool {

  /** Tokens per page. Their floats fill one vector of 512 bits. */
  public static final int PAGE_TOKENS = Kernels.LANES;

  private final int pages;
  private final int[] layerOffsets;
  private final int[] keyWidths;
  private final int[] headElements;

  /** Elements of a key and of a value, including the scale if there is one. */
  private final int[] keyElements;

  private final int[] valueElements;
  private final int elementBytes;
  private final Consumer<OrderedTransfer> dispatcher;
  private final Runnable onClose;
  private KvSlabs inPages;

  /** The KV entries of layers with a window, by window part; null if the pages contain them. */
  private KvSlabs inParts;

  /** The window part of each page; -1 for none. */
  private final int[] partOf;

  private final boolean[] hasWindow;

  /**
   * @param parts number of window parts; 0 if the pages contain all layers
   * @param dispatcher makes copies between the steps, in the order of submission
   */
  public CpuKvPool(
      ModelConfig config,
      KvSpec.Type type,
      int pages,
      int parts,
      Consumer<OrderedTransfer> dispatcher,
      Runnable onClose) {
    this.pages = pages;
    this.dispatcher = dispatcher;
    this.onClose = onClose;
    int layers = config.layers();
    layerOffsets = new int[layers];
    keyWidths = new int[layers];
    headElements = new int[layers];
    keyElements = new int[layers];
    valueElements = new int[layers];
    hasWindow = new boolean[layers];
    int pageElements = 0;
    int partElements = 0;
    for (int layer = 0; layer < layers; layer++) {
      Attention attention = config.layer(layer).attention();
      keyWidths[layer] = attention.keyWidth();
      keyElements[layer] = type.vectorBytes(attention.keyWidth()) / type.bytes();
      valueElements[layer] = type.vectorBytes(attention.valueWidth()) / type.bytes();
      headElements[layer] = (keyElements[layer] + valueElements[layer]) * PAGE_TOKENS;
      hasWindow[layer] = parts > 0 && attention.window() > 0;
      int elements = attention.kvHeads() * headElements[layer];
      if (hasWindow[layer]) {
        layerOffsets[layer] = partElements;
        partElements = Math.addExact(partElements, elements);
      } else {
        layerOffsets[layer] = pageElements;
        pageElements = Math.addExact(pageElements, elements);
      }
    }
    elementBytes = type.bytes();
    inPages = new KvSlabs(pages, pageElements, type);
    try {
      inParts = parts == 0 ? null : new KvSlabs(parts, partElements, type);
    } catch (OutOfMemoryError e) {
      inPages.close();
      throw e;
    }
    partOf = new int[parts == 0 ? 0 : pages];
    Arrays.fill(partOf, -1);
  }

  @Override
  public int pages() {
    return pages;
  }

  @Override
  public int pageTokens() {
    return PAGE_TOKENS;
  }

  @Override
  public long pageBytes() {
    return (long) inPages.elements * elementBytes;
  }

  @Override
  public int parts() {
    return inParts == null ? 0 : inParts.units;
  }

  @Override
  public long partBytes() {
    return inParts == null ? 0 : (long) inParts.elements * elementBytes;
  }

  @Override
  public void mapWindow(int page, int part) {
    partOf[page] = part;
  }

  KvSlabs.Type type() {
    return inPages.type;
  }

  KvSlabs slabs(int layer) {
    return hasWindow[layer] ? inParts : inPages;
  }

  /** Returns the unit, a page or a window part, that has a page's entries in a layer. */
  int unit(int page, int layer) {
    int unit = hasWindow[layer] ? partOf[page] : page;
    if (unit < 0) {
      throw new IllegalStateException("page " + page + " has no window part");
    }
    return unit;
  }

  /** Returns the index at which the keys of a head of a layer begin in a unit. */
  int keys(int layer, int kvHead) {
    return layerOffsets[layer] + kvHead * headElements[layer];
  }

  /** Returns the index at which the values of a head of a layer begin in a unit. */
  int values(int layer, int kvHead) {
    return keys(layer, kvHead) + PAGE_TOKENS * keyElements[layer];
  }

  /** Returns the offset of {@link #keys} in bytes. */
  long keysByte(int layer, int kvHead) {
    return (long) keys(layer, kvHead) * elementBytes;
  }

  /** Returns the offset of {@link #values} in bytes. */
  long valuesByte(int layer, int kvHead) {
    return (long) values(layer, kvHead) * elementBytes;
  }

  /** Stores one token's key and value of one head, which have equal widths. */
  public void store(int page, int slot, int layer, int kvHead, Floats k, int ko, Floats v, int vo) {
    storeKey(page, slot, layer, kvHead, k, ko);
    int values = values(layer, kvHead);
    int width = keyWidths[layer];
    int scale = scales(values, valueElements[layer]) + slot;
    slabs(layer).store(unit(page, layer), values + slot * width, 1, scale, v, vo, width);
  }

  /** Stores one token's key of one head. */
  public void storeKey(int page, int slot, int layer, int kvHead, Floats k, int ko) {
    int keys = keys(layer, kvHead);
    int scale = scales(keys, keyElements[layer]) + slot;
    slabs(layer).store(unit(page, layer), keys + slot, PAGE_TOKENS, scale, k, ko, keyWidths[layer]);
  }

  /** Returns the index of the scales that belong to the keys or values at {@code at}. */
  private static int scales(int at, int elements) {
    return at + PAGE_TOKENS * (elements - 1);
  }

  /** Reads the keys of a page's head as floats. */
  void readKeys(int page, int layer, int kvHead, float[] out) {
    int at = keys(layer, kvHead);
    int scales = scales(at, keyElements[layer]);
    slabs(layer).widen(unit(page, layer), at, keyWidths[layer], scales, true, out);
  }

  /** Reads the values of a page's head as floats. */
  void readValues(int page, int layer, int kvHead, float[] out) {
    int at = values(layer, kvHead);
    int scales = scales(at, valueElements[layer]);
    slabs(layer).widen(unit(page, layer), at, keyWidths[layer], scales, false, out);
  }

  @Override
  public HostPages openHostPages(int count) {
    return openHostPages(count, 0);
  }

  @Override
  public HostPages openHostPages(int count, int hostParts) {
    return OffHeap.isUsed()
        ? OffHeapPages.open(count, pageBytes(), hostParts, partBytes())
        : HostPagesAndParts.inHeap(count, pageBytes(), hostParts, partBytes());
  }

  @Override
  public Transfer copyIn(int[] to, HostPages host, int[] from, int count) {
    return transfer(to, host, from, count, true);
  }

  @Override
  public Transfer copyOut(int[] from, HostPages host, int[] to, int count) {
    return transfer(from, host, to, count, false);
  }

  private Transfer transfer(int[] own, HostPages host, int[] hostPages, int count, boolean in) {
    int[] pool = Arrays.copyOf(own, count);
    ByteBuffer[] buffers = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      Objects.checkIndex(pool[i], pages + parts());
      buffers[i] = host.buffer(hostPages[i]);
    }
    KvSlabs slabs = inPages;
    KvSlabs windows = inParts;
    OrderedTransfer transfer =
        new OrderedTransfer(
            () -> {
              for (int i = 0; i < count; i++) {
                boolean part = pool[i] >= pages;
                (part ? windows : slabs).move(pool[i] - (part ? pages : 0), buffers[i], in);
              }
            });
    dispatcher.accept(transfer);
    return transfer;
  }

  /** Frees the memory after the steps and copies that were submitted so far. */
  @Override
  public void close() {
    if (inPages == null) {
      return;
    }
    // Code that used the memory later would end the process.
    OrderedTransfer free = new OrderedTransfer(this::free);
    dispatcher.accept(free);
    Uninterruptibly.await(free::await);
    onClose.run();
  }

  private void free() {
    inPages.close();
    inPages = null;
    if (inParts != null) {
      inParts.close();
      inParts = null;
    }
  }
}
