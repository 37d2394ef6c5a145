package io.radixflow.models;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Reads and writes eight bytes of an array as one long, with the first byte lowest, so that codes
 * can be moved eight at a time.
 */
public final class EightBytes {

  private static final VarHandle VIEW =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private EightBytes() {}

  public static long get(byte[] bytes, int at) {
    return (long) VIEW.get(bytes, at);
  }

  public static void set(byte[] bytes, int at, long value) {
    VIEW.set(bytes, at, value);
  }
}
