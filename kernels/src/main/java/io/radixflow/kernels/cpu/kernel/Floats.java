package io.radixflow.kernels.cpu.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Objects;

/**
 * Rows of floats. With the native kernels they are outside Java's heap, so that native code needs
 * only their address; otherwise they are in an array.
 */
public final class Floats {

  /** The largest number of floats. */
  public static final int MOST = 1 << 28;

  /** No floats. */
  public static final Floats NONE = allocate(0);

  private final ByteBuffer bytes;
  private final FloatBuffer floats;
  private final long address;

  /** The memory that has the floats until it is closed; null if the JVM frees them. */
  final OffHeap memory;

  private Floats(ByteBuffer bytes, long address, OffHeap memory) {
    this.bytes = bytes;
    this.address = address;
    this.memory = memory;
    floats = bytes.asFloatBuffer();
  }

  /** Takes memory of one unit. */
  Floats(OffHeap memory) {
    this(memory.buffer(0), OffHeap.isUsed() ? memory.address(0) : 0, memory);
  }

  /** Allocates zeros, which the JVM frees when nothing refers to them. */
  public static Floats allocate(int length) {
    int size = Math.multiplyExact(length, Float.BYTES);
    boolean used = OffHeap.isUsed();
    ByteBuffer bytes = used ? ByteBuffer.allocateDirect(size) : ByteBuffer.allocate(size);
    return new Floats(
        bytes.order(ByteOrder.nativeOrder()), used ? OffHeap.address(bytes) : 0, null);
  }

  /** Allocates a copy of an array. */
  public static Floats of(float... values) {
    Floats floats = allocate(values.length);
    floats.put(0, values, 0, values.length);
    return floats;
  }

  /** Number of floats. */
  public int length() {
    return floats.capacity();
  }

  /** Returns a float. */
  public float get(int index) {
    return floats.get(index);
  }

  /** Sets a float. */
  public void set(int index, float value) {
    floats.put(index, value);
  }

  /** Returns the bits in the place of a float. */
  public int bits(int index) {
    return bytes.getInt(index * Float.BYTES);
  }

  /** Sets the bits in the place of a float. */
  public void setBits(int index, int bits) {
    bytes.putInt(index * Float.BYTES, bits);
  }

  /** Copies {@code count} floats from {@code index} on to an array. */
  public void get(int index, float[] to, int at, int count) {
    floats.get(index, to, at, count);
  }

  /** Copies {@code count} floats of an array to {@code index}. */
  public void put(int index, float[] from, int at, int count) {
    floats.put(index, from, at, count);
  }

  /** Copies {@code count} other floats to {@code index}. */
  public void put(int index, Floats from, int at, int count) {
    floats.put(index, from.floats, at, count);
  }

  /** Sets the floats from {@code from} to before {@code to}. */
  public void fill(int from, int to, float value) {
    for (int i = from; i < to; i++) {
      floats.put(i, value);
    }
  }

  /** Returns a copy of all floats. */
  public float[] toArray() {
    float[] copy = new float[length()];
    get(0, copy, 0, copy.length);
    return copy;
  }

  /**
   * Returns the address of {@code count} floats for native code.
   *
   * @throws IndexOutOfBoundsException if not all are inside
   */
  public long address(int index, int count) {
    if (address == 0) {
      throw new IllegalStateException("these floats are in Java's heap");
    }
    return address + 4L * Objects.checkFromIndexSize(index, count, length());
  }
}
