package io.radixflow.kernels.cpu;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.kernels.device.HostPagesAndParts;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.OrderedTransfer;
import io.radixflow.kernels.device.Transfer;
import io.radixflow.kernels.model.Attention;
import io.radixflow.kernels.model.Float16;
import io.radixflow.kernels.model.ModelConfig;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * KV pages on the heap, float or binary16.
 *
 * <p>A page holds, for each layer and KV head in turn, K as [element][token] and V as
 * [token][element]: attention loads tokens of K and elements of V as lanes. A layer of latent
 * attention has K alone. Pages lie in several arrays, so that a pool may exceed what one array can
 * hold. What layers with an attention window have of a page may lie in a window part instead.
 *
 * <p>The caller knows which pages hold what. Written and read by workers; rows of one step write
 * different slots, and a step's regions order writes before reads.
 */
final class CpuKvPool implements KvPool {

  /** Tokens a page: one vector of 512 bits. */
  static final int PAGE_TOKENS = Kernels.LANES;

  /** Elements of one array, about: large enough to be few, small enough to find room in a heap. */
  private static final long ARRAY_ELEMENTS = 1L << 24;

  private final int pages;
  private final int[] layerOffsets;
  private final int[] keyWidths;
  private final int[] headElements;
  private final int elementBytes;
  private final Consumer<OrderedTransfer> dispatcher;
  private final Runnable onClose;
  private Slabs inPages;

  /** What layers with a window have of pages, and which part is a page's; null if in the pages. */
  private Slabs inParts;

  private final int[] partOf;
  private final boolean[] hasWindow;

  /** Units of equal size, pages or parts, in as many arrays as it takes. */
  private static final class Slabs {
    final int units;
    final int elements;
    final int perArray;
    final float[][] floats;
    final short[][] halves;

    Slabs(int units, int elements, KvSpec.Type type) {
      this.units = units;
      this.elements = elements;
      perArray = (int) Math.max(1, ARRAY_ELEMENTS / Math.max(1, elements));
      int arrays = (units + perArray - 1) / perArray;
      floats = type == KvSpec.Type.F16 ? null : new float[arrays][];
      halves = type == KvSpec.Type.F16 ? new short[arrays][] : null;
      for (int i = 0; i < arrays; i++) {
        int length = Math.min(perArray, units - i * perArray) * elements;
        if (floats != null) {
          floats[i] = new float[length];
        } else {
          halves[i] = new short[length];
        }
      }
    }

    void move(int unit, ByteBuffer buffer, boolean in) {
      int at = unit % perArray * elements;
      if (floats == null && in) {
        buffer.asShortBuffer().get(halves[unit / perArray], at, elements);
      } else if (floats == null) {
        buffer.asShortBuffer().put(halves[unit / perArray], at, elements);
      } else if (in) {
        buffer.asFloatBuffer().get(floats[unit / perArray], at, elements);
      } else {
        buffer.asFloatBuffer().put(floats[unit / perArray], at, elements);
      }
    }
  }

  /**
   * @param parts window parts; 0 if the pages hold all layers
   * @param dispatcher makes copies in the order of submission among the steps
   */
  CpuKvPool(
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
    hasWindow = new boolean[layers];
    int pageElements = 0;
    int partElements = 0;
    for (int layer = 0; layer < layers; layer++) {
      Attention attention = config.layer(layer).attention();
      keyWidths[layer] = attention.keyWidth();
      headElements[layer] = (attention.keyWidth() + attention.valueWidth()) * PAGE_TOKENS;
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
    inPages = new Slabs(pages, pageElements, type);
    inParts = parts == 0 ? null : new Slabs(parts, partElements, type);
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

  private Slabs slabs(int layer) {
    return hasWindow[layer] ? inParts : inPages;
  }

  /** Returns which of a layer's units has a page's entries. */
  private int unit(int page, int layer) {
    int unit = hasWindow[layer] ? partOf[page] : page;
    if (unit < 0) {
      throw new IllegalStateException("page " + page + " has no window part");
    }
    return unit;
  }

  /** Returns where a head of a layer begins in the array that has the unit. */
  private int offset(Slabs slabs, int unit, int layer, int kvHead) {
    return unit % slabs.perArray * slabs.elements
        + layerOffsets[layer]
        + kvHead * headElements[layer];
  }

  /** Stores one token's key and value of one head, which are equally wide. */
  void store(int page, int slot, int layer, int kvHead, float[] k, int ko, float[] v, int vo) {
    int width = keyWidths[layer];
    storeKey(page, slot, layer, kvHead, k, ko);
    Slabs slabs = slabs(layer);
    int unit = unit(page, layer);
    int values = offset(slabs, unit, layer, kvHead) + (PAGE_TOKENS + slot) * width;
    if (slabs.floats != null) {
      System.arraycopy(v, vo, slabs.floats[unit / slabs.perArray], values, width);
      return;
    }
    short[] array = slabs.halves[unit / slabs.perArray];
    for (int d = 0; d < width; d++) {
      array[values + d] = Float16.fromFloat(v[vo + d]);
    }
  }

  /** Stores one token's key of one head. */
  void storeKey(int page, int slot, int layer, int kvHead, float[] k, int ko) {
    int width = keyWidths[layer];
    Slabs slabs = slabs(layer);
    int unit = unit(page, layer);
    int keys = offset(slabs, unit, layer, kvHead) + slot;
    if (slabs.floats != null) {
      float[] array = slabs.floats[unit / slabs.perArray];
      for (int d = 0; d < width; d++) {
        array[keys + d * PAGE_TOKENS] = k[ko + d];
      }
      return;
    }
    short[] array = slabs.halves[unit / slabs.perArray];
    for (int d = 0; d < width; d++) {
      array[keys + d * PAGE_TOKENS] = Float16.fromFloat(k[ko + d]);
    }
  }

  /** A page's head as floats: {@code scratch} where it must be widened, else the pool's array. */
  float[] keysArray(Kernels kernels, int page, int layer, int kvHead, float[] scratch) {
    return array(kernels, page, layer, kvHead, 0, scratch);
  }

  /** The index of the first key in {@link #keysArray}. */
  int keysOffset(int page, int layer, int kvHead) {
    Slabs slabs = slabs(layer);
    return slabs.floats == null ? 0 : offset(slabs, unit(page, layer), layer, kvHead);
  }

  /** The same for values as {@link #keysArray} for keys. */
  float[] valuesArray(Kernels kernels, int page, int layer, int kvHead, float[] scratch) {
    return array(kernels, page, layer, kvHead, PAGE_TOKENS * keyWidths[layer], scratch);
  }

  /** The index of the first value in {@link #valuesArray}. */
  int valuesOffset(int page, int layer, int kvHead) {
    Slabs slabs = slabs(layer);
    return slabs.floats == null
        ? 0
        : offset(slabs, unit(page, layer), layer, kvHead) + PAGE_TOKENS * keyWidths[layer];
  }

  private float[] array(
      Kernels kernels, int page, int layer, int kvHead, int from, float[] scratch) {
    Slabs slabs = slabs(layer);
    int unit = unit(page, layer);
    if (slabs.floats != null) {
      return slabs.floats[unit / slabs.perArray];
    }
    int at = offset(slabs, unit, layer, kvHead) + from;
    int count = PAGE_TOKENS * keyWidths[layer];
    kernels.widenHalf(slabs.halves[unit / slabs.perArray], at, count, scratch, 0);
    return scratch;
  }

  @Override
  public HostPages openHostPages(int count) {
    return openHostPages(count, 0);
  }

  @Override
  public HostPages openHostPages(int count, int hostParts) {
    return HostPagesAndParts.inHeap(count, pageBytes(), hostParts, partBytes());
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
    Slabs slabs = inPages;
    Slabs windows = inParts;
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

  @Override
  public void close() {
    inPages = null;
    inParts = null;
    onClose.run();
  }
}
