package io.radixflow.kernels.cpu.attention;

import static io.radixflow.kernels.cpu.attention.CpuKvPool.PAGE_TOKENS;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.Float16;
import io.radixflow.models.Float8;
import java.nio.ByteBuffer;

/**
 * Units of equal size (pages or window parts), in as many arrays as are needed. Elements are
 * floats, binary16 or 8-bit floats; an 8-bit float takes one byte.
 */
final class KvSlabs {

  /** Types of elements. The order is the same as in attention.h. */
  enum Type {
    FLOAT,
    HALF,
    FLOAT8
  }

  /**
   * Approximate number of elements per array: large enough that there are few arrays, and small
   * enough to fit into a fragmented heap.
   */
  private static final long ARRAY_ELEMENTS = 1L << 26;

  final int units;
  final int elements;
  private final int perArray;
  private final float[][] floats;
  private final short[][] halves;
  private final byte[][] codes;

  KvSlabs(int units, int elements, KvSpec.Type type) {
    this.units = units;
    this.elements = elements;
    perArray = (int) Math.max(1, ARRAY_ELEMENTS / Math.max(1, elements));
    int arrays = (units + perArray - 1) / perArray;
    floats = type == KvSpec.Type.F32 ? new float[arrays][] : null;
    halves = type == KvSpec.Type.F16 ? new short[arrays][] : null;
    codes = type == KvSpec.Type.FP8 ? new byte[arrays][] : null;
    for (int i = 0; i < arrays; i++) {
      int length = Math.min(perArray, units - i * perArray) * elements;
      if (floats != null) {
        floats[i] = new float[length];
      } else if (halves != null) {
        halves[i] = new short[length];
      } else {
        codes[i] = new byte[length];
      }
    }
  }

  /** The type of the elements. */
  Type type() {
    return floats != null ? Type.FLOAT : halves != null ? Type.HALF : Type.FLOAT8;
  }

  /** Number of arrays. */
  int arrays() {
    return (units + perArray - 1) / perArray;
  }

  /** The number of the array that contains a unit. */
  int number(int unit) {
    return unit / perArray;
  }

  /** An array by its number: {@code float[]}, {@code short[]} or {@code byte[]}. */
  Object array(int number) {
    return floats != null ? floats[number] : halves != null ? halves[number] : codes[number];
  }

  /** The array that contains a unit, if elements are floats; null if elements must be widened. */
  float[] floats(int unit) {
    return floats == null ? null : floats[unit / perArray];
  }

  /** Returns the index at which a unit begins in its array. */
  int offset(int unit) {
    return unit % perArray * elements;
  }

  void move(int unit, ByteBuffer buffer, boolean in) {
    int array = unit / perArray;
    int at = offset(unit);
    if (floats != null && in) {
      buffer.asFloatBuffer().get(floats[array], at, elements);
    } else if (floats != null) {
      buffer.asFloatBuffer().put(floats[array], at, elements);
    } else if (halves != null && in) {
      buffer.asShortBuffer().get(halves[array], at, elements);
    } else if (halves != null) {
      buffer.asShortBuffer().put(halves[array], at, elements);
    } else if (in) {
      buffer.duplicate().get(codes[array], at, elements);
    } else {
      buffer.duplicate().put(codes[array], at, elements);
    }
  }

  /**
   * Stores a vector of a unit.
   *
   * @param at index of the first element in the unit's array
   * @param stride distance from one element to the next
   * @param scaleAt index for the scale of 8-bit floats
   */
  void store(int unit, int at, int stride, int scaleAt, float[] from, int fo, int width) {
    int number = unit / perArray;
    if (floats != null) {
      storeFloats(floats[number], at, stride, from, fo, width);
    } else if (halves != null) {
      short[] array = halves[number];
      for (int d = 0; d < width; d++) {
        array[at + d * stride] = Float16.fromFloat(from[fo + d]);
      }
    } else {
      storeFloat8(codes[number], at, stride, scaleAt, from, fo, width);
    }
  }

  private static void storeFloats(
      float[] array, int at, int stride, float[] from, int fo, int width) {
    if (stride == 1) {
      System.arraycopy(from, fo, array, at, width);
      return;
    }
    for (int d = 0; d < width; d++) {
      array[at + d * stride] = from[fo + d];
    }
  }

  private static void storeFloat8(
      byte[] array, int at, int stride, int scaleAt, float[] from, int fo, int width) {
    int magnitude = 0;
    for (int d = 0; d < width; d++) {
      magnitude = Math.max(magnitude, Float.floatToRawIntBits(from[fo + d]) & 0x7fffffff);
    }
    int scale = Float8.scaleCode(magnitude);
    array[scaleAt] = (byte) scale;
    float inverse = Float8.inverseScale(scale);
    for (int d = 0; d < width; d++) {
      array[at + d * stride] = scale == 255 ? 0 : Float8.fromFloat(from[fo + d] * inverse);
    }
  }

  /** Widens the keys of a page's head to floats: [element][token]. */
  void widenKeys(Kernels kernels, int unit, int at, int width, int scalesAt, float[] out) {
    widen(kernels, unit, at, width, out);
    if (codes != null) {
      byte[] array = codes[unit / perArray];
      for (int d = 0; d < width; d++) {
        for (int token = 0; token < PAGE_TOKENS; token++) {
          out[d * PAGE_TOKENS + token] *= Float8.scale(array[scalesAt + token]);
        }
      }
    }
  }

  /** Widens the values of a page's head to floats: [token][element]. */
  void widenValues(Kernels kernels, int unit, int at, int width, int scalesAt, float[] out) {
    widen(kernels, unit, at, width, out);
    if (codes != null) {
      byte[] array = codes[unit / perArray];
      for (int token = 0; token < PAGE_TOKENS; token++) {
        float scale = Float8.scale(array[scalesAt + token]);
        for (int d = 0; d < width; d++) {
          out[token * width + d] *= scale;
        }
      }
    }
  }

  private void widen(Kernels kernels, int unit, int at, int width, float[] out) {
    if (halves != null) {
      kernels.widenHalf(halves[unit / perArray], at, PAGE_TOKENS * width, out, 0);
    } else {
      kernels.widenFloat8(codes[unit / perArray], at, PAGE_TOKENS * width, out, 0);
    }
  }
}
