package io.radixflow.kernels.cpu.attention;

import static io.radixflow.kernels.cpu.attention.CpuKvPool.PAGE_TOKENS;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.OffHeap;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.Float16;
import io.radixflow.models.Float8;
import java.nio.ByteBuffer;

/**
 * Units of equal size (pages or window parts) outside the heap. Elements are floats, binary16 or
 * 8-bit floats. Indices count elements from the start of a unit.
 */
final class KvSlabs implements AutoCloseable {

  /** Types of elements. NativeOrderTest compares the order with attention.h. */
  enum Type {
    FLOAT,
    HALF,
    FLOAT8
  }

  final int units;
  final int elements;
  final Type type;
  private final int bytes;
  private final OffHeap memory;

  /**
   * @throws OutOfMemoryError if there is not enough memory
   */
  KvSlabs(int units, int elements, KvSpec.Type type) {
    this.units = units;
    this.elements = elements;
    this.type =
        type == KvSpec.Type.F32 ? Type.FLOAT : type == KvSpec.Type.F16 ? Type.HALF : Type.FLOAT8;
    bytes = type.bytes();
    memory = new OffHeap(units, (long) elements * bytes);
  }

  /** Returns the address at which a unit begins. */
  long address(int unit) {
    return memory.address(unit);
  }

  void move(int unit, ByteBuffer other, boolean in) {
    ByteBuffer buffer = memory.buffer(unit);
    int size = elements * bytes;
    if (in) {
      buffer.put(memory.at(unit), other, 0, size);
    } else {
      other.put(0, buffer, memory.at(unit), size);
    }
  }

  /**
   * Stores a vector.
   *
   * @param at index of the first element
   * @param stride distance from one element to the next
   * @param scaleAt index of the scale of 8-bit floats
   */
  void store(int unit, int at, int stride, int scaleAt, Floats from, int fo, int width) {
    ByteBuffer buffer = memory.buffer(unit);
    int to = memory.at(unit) + at * bytes;
    int step = stride * bytes;
    switch (type) {
      case FLOAT -> {
        for (int d = 0; d < width; d++) {
          buffer.putFloat(to + d * step, from.get(fo + d));
        }
      }
      case HALF -> {
        for (int d = 0; d < width; d++) {
          buffer.putShort(to + d * step, Float16.fromFloat(from.get(fo + d)));
        }
      }
      case FLOAT8 -> storeFloat8(buffer, to, step, memory.at(unit) + scaleAt, from, fo, width);
    }
  }

  private static void storeFloat8(
      ByteBuffer buffer, int at, int stride, int scaleAt, Floats from, int fo, int width) {
    int magnitude = 0;
    for (int d = 0; d < width; d++) {
      magnitude = Math.max(magnitude, Float.floatToRawIntBits(from.get(fo + d)) & 0x7fffffff);
    }
    int scale = Float8.scaleCode(magnitude);
    buffer.put(scaleAt, (byte) scale);
    float inverse = Float8.inverseScale(scale);
    for (int d = 0; d < width; d++) {
      buffer.put(at + d * stride, scale == 255 ? 0 : Float8.fromFloat(from.get(fo + d) * inverse));
    }
  }

  /**
   * Widens the keys or values of a page's head to floats.
   *
   * @param at index of the first element
   * @param scalesAt index of the scales of 8-bit floats
   * @param keys whether elements are {@code [element][token]}, else {@code [token][element]}
   */
  void widen(int unit, int at, int width, int scalesAt, boolean keys, float[] out) {
    ByteBuffer buffer = memory.buffer(unit);
    int from = memory.at(unit) + at * bytes;
    int scales = memory.at(unit) + scalesAt;
    for (int i = 0; i < PAGE_TOKENS * width; i++) {
      out[i] =
          switch (type) {
            case FLOAT -> buffer.getFloat(from + 4 * i);
            case HALF -> Float16.toFloat(buffer.getShort(from + 2 * i));
            case FLOAT8 ->
                Float8.toFloat(buffer.get(from + i))
                    * Float8.scale(buffer.get(scales + (keys ? i % PAGE_TOKENS : i / width)));
          };
    }
  }

  @Override
  public void close() {
    memory.close();
  }
}
