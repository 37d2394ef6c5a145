package io.radixflow.kernels.cuda.step;

import io.radixflow.models.Float8;
import java.util.Arrays;

/**
 * One layer's keys, or values, as the kernels keep them in 8-bit floats, for tests: pages of
 * [slot][KV head][element] codes and [KV head][slot] scales. The elements of the first and of the
 * second half of a vector come in turn.
 */
final class Float8Pages {

  private final int pageTokens;
  private final int kvHeads;
  private final int width;
  final byte[] bytes;

  /** Pages whose codes and scales stand for no number. */
  Float8Pages(int pages, int pageTokens, int kvHeads, int width) {
    this.pageTokens = pageTokens;
    this.kvHeads = kvHeads;
    this.width = width;
    bytes = new byte[pages * pageTokens * kvHeads * (width + 1)];
    Arrays.fill(bytes, (byte) 0xff);
  }

  private int page(int slot) {
    return slot / pageTokens * pageTokens * kvHeads * (width + 1);
  }

  int codeAt(int slot, int kvHead, int element) {
    int half = width / 2;
    return page(slot)
        + (slot % pageTokens * kvHeads + kvHead) * width
        + 2 * (element % half)
        + element / half;
  }

  int scaleAt(int slot, int kvHead) {
    return page(slot) + pageTokens * kvHeads * width + kvHead * pageTokens + slot % pageTokens;
  }

  /** Stores a vector of bf16. */
  void put(int slot, int kvHead, short[] vector, int from) {
    float[] values = Bf16.toFloats(Arrays.copyOfRange(vector, from, from + width));
    int scale = scale(values);
    bytes[scaleAt(slot, kvHead)] = (byte) scale;
    for (int i = 0; i < width; i++) {
      bytes[codeAt(slot, kvHead, i)] = code(values[i], scale);
    }
  }

  static int scale(float[] vector) {
    int magnitude = 0;
    for (float value : vector) {
      magnitude = Math.max(magnitude, Float.floatToRawIntBits(Math.abs(value)));
    }
    return Float8.scaleCode(magnitude);
  }

  static byte code(float value, int scale) {
    return scale == 255 ? 0 : Float8.fromFloat(value * Float8.inverseScale(scale));
  }

  /** Rounds vectors of bf16 to what their codes and scales stand for, which bf16 has exactly. */
  static void round(short[] values, int width) {
    for (int from = 0; from < values.length; from += width) {
      float[] vector = Bf16.toFloats(Arrays.copyOfRange(values, from, from + width));
      int scale = scale(vector);
      for (int i = 0; i < width; i++) {
        float value = Float8.toFloat(code(vector[i], scale)) * Float8.scale((byte) scale);
        values[from + i] = Bf16.of(value);
      }
    }
  }
}
