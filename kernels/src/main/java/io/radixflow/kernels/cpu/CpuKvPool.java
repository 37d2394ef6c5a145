package io.radixflow.kernels.cpu;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.device.HeapPages;
import io.radixflow.kernels.device.HostPages;
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
 * hold.
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
  private final int pageElements;
  private final int pagesPerArray;
  private final int elementBytes;
  private final Consumer<OrderedTransfer> dispatcher;
  private final Runnable onClose;
  private float[][] floats;
  private short[][] halves;

  /**
   * @param dispatcher makes copies in the order of submission among the steps
   */
  CpuKvPool(
      ModelConfig config,
      KvSpec.Type type,
      int pages,
      Consumer<OrderedTransfer> dispatcher,
      Runnable onClose) {
    this.pages = pages;
    this.dispatcher = dispatcher;
    this.onClose = onClose;
    int layers = config.layers();
    layerOffsets = new int[layers];
    keyWidths = new int[layers];
    headElements = new int[layers];
    int elements = 0;
    for (int layer = 0; layer < layers; layer++) {
      Attention attention = config.layer(layer).attention();
      layerOffsets[layer] = elements;
      keyWidths[layer] = attention.keyWidth();
      headElements[layer] = (attention.keyWidth() + attention.valueWidth()) * PAGE_TOKENS;
      elements = Math.addExact(elements, attention.kvHeads() * headElements[layer]);
    }
    pageElements = elements;
    elementBytes = type.bytes();
    pagesPerArray = (int) Math.max(1, ARRAY_ELEMENTS / pageElements);
    int arrays = (pages + pagesPerArray - 1) / pagesPerArray;
    if (type == KvSpec.Type.F16) {
      halves = new short[arrays][];
      for (int i = 0; i < arrays; i++) {
        halves[i] = new short[arrayPages(i) * pageElements];
      }
    } else {
      floats = new float[arrays][];
      for (int i = 0; i < arrays; i++) {
        floats[i] = new float[arrayPages(i) * pageElements];
      }
    }
  }

  private int arrayPages(int array) {
    return Math.min(pagesPerArray, pages - array * pagesPerArray);
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
    return (long) pageElements * elementBytes;
  }

  private int offset(int page, int layer, int kvHead) {
    return (page % pagesPerArray) * pageElements
        + layerOffsets[layer]
        + kvHead * headElements[layer];
  }

  /** Stores one token's key and value of one head, which are equally wide. */
  void store(int page, int slot, int layer, int kvHead, float[] k, int ko, float[] v, int vo) {
    int width = keyWidths[layer];
    storeKey(page, slot, layer, kvHead, k, ko);
    int values = offset(page, layer, kvHead) + (PAGE_TOKENS + slot) * width;
    if (floats != null) {
      System.arraycopy(v, vo, floats[page / pagesPerArray], values, width);
      return;
    }
    short[] array = halves[page / pagesPerArray];
    for (int d = 0; d < width; d++) {
      array[values + d] = Float16.fromFloat(v[vo + d]);
    }
  }

  /** Stores one token's key of one head. */
  void storeKey(int page, int slot, int layer, int kvHead, float[] k, int ko) {
    int width = keyWidths[layer];
    int keys = offset(page, layer, kvHead) + slot;
    if (floats != null) {
      float[] array = floats[page / pagesPerArray];
      for (int d = 0; d < width; d++) {
        array[keys + d * PAGE_TOKENS] = k[ko + d];
      }
      return;
    }
    short[] array = halves[page / pagesPerArray];
    for (int d = 0; d < width; d++) {
      array[keys + d * PAGE_TOKENS] = Float16.fromFloat(k[ko + d]);
    }
  }

  /** A page's head as floats: {@code scratch} where it must be widened, else the pool's array. */
  float[] keysArray(Kernels kernels, int page, int layer, int kvHead, float[] scratch) {
    return array(kernels, page, offset(page, layer, kvHead), keyWidths[layer], scratch);
  }

  /** The index of the first key in {@link #keysArray}. */
  int keysOffset(int page, int layer, int kvHead) {
    return floats == null ? 0 : offset(page, layer, kvHead);
  }

  /** The same for values as {@link #keysArray} for keys. */
  float[] valuesArray(Kernels kernels, int page, int layer, int kvHead, float[] scratch) {
    int width = keyWidths[layer];
    return array(kernels, page, offset(page, layer, kvHead) + PAGE_TOKENS * width, width, scratch);
  }

  /** The index of the first value in {@link #valuesArray}. */
  int valuesOffset(int page, int layer, int kvHead) {
    return floats == null ? 0 : offset(page, layer, kvHead) + PAGE_TOKENS * keyWidths[layer];
  }

  private float[] array(Kernels kernels, int page, int at, int width, float[] scratch) {
    if (floats != null) {
      return floats[page / pagesPerArray];
    }
    kernels.widenHalf(halves[page / pagesPerArray], at, PAGE_TOKENS * width, scratch, 0);
    return scratch;
  }

  @Override
  public HostPages openHostPages(int count) {
    return new HeapPages(count, pageBytes());
  }

  @Override
  public Transfer copyIn(int[] to, HostPages host, int[] from, int count) {
    return transfer(to, host, from, count, this::copyIn);
  }

  @Override
  public Transfer copyOut(int[] from, HostPages host, int[] to, int count) {
    return transfer(from, host, to, count, this::copyOut);
  }

  /** Moves one page between the pool and a buffer. */
  private interface Move {
    void apply(int page, ByteBuffer buffer);
  }

  private Transfer transfer(int[] own, HostPages host, int[] hostPages, int count, Move move) {
    int[] pool = Arrays.copyOf(own, count);
    ByteBuffer[] buffers = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      Objects.checkIndex(pool[i], pages);
      buffers[i] = host.buffer(hostPages[i]);
    }
    OrderedTransfer transfer =
        new OrderedTransfer(
            () -> {
              for (int i = 0; i < count; i++) {
                move.apply(pool[i], buffers[i]);
              }
            });
    dispatcher.accept(transfer);
    return transfer;
  }

  private void copyIn(int page, ByteBuffer buffer) {
    int at = page % pagesPerArray * pageElements;
    if (floats != null) {
      buffer.asFloatBuffer().get(floats[page / pagesPerArray], at, pageElements);
    } else {
      buffer.asShortBuffer().get(halves[page / pagesPerArray], at, pageElements);
    }
  }

  private void copyOut(int page, ByteBuffer buffer) {
    int at = page % pagesPerArray * pageElements;
    if (floats != null) {
      buffer.asFloatBuffer().put(floats[page / pagesPerArray], at, pageElements);
    } else {
      buffer.asShortBuffer().put(halves[page / pagesPerArray], at, pageElements);
    }
  }

  @Override
  public void close() {
    floats = null;
    halves = null;
    onClose.run();
  }
}
