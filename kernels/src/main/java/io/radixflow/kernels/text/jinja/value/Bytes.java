package io.radixflow.kernels.text.jinja.value;

import java.util.Arrays;
import java.util.Iterator;
import java.util.stream.IntStream;

/** Python's bytes: what {@code str.encode} returns. Immutable. */
public final class Bytes {
  private final byte[] values;

  /**
   * @param values not copied
   */
  public Bytes(byte[] values) {
    this.values = values;
  }

  public int length() {
    return values.length;
  }

  /** Returns a copy. */
  public byte[] values() {
    return values.clone();
  }

  Iterator<Object> iterator() {
    return IntStream.range(0, values.length).<Object>mapToObj(i -> values[i] & 0xFFL).iterator();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Bytes bytes && Arrays.equals(values, bytes.values);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(values);
  }

  /** Returns Python's {@code repr}. */
  @Override
  public String toString() {
    StringBuilder out = new StringBuilder(values.length + 3);
    boolean single = false;
    boolean twofold = false;
    for (byte value : values) {
      single |= value == '\'';
      twofold |= value == '"';
      switch (value) {
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        default -> {
          if (value < 0x20 || value == 0x7F) {
            out.append(String.format("\\x%02x", value & 0xFF));
          } else {
            out.append((char) value);
          }
        }
      }
    }
    return single && !twofold
        ? "b\"" + out + "\""
        : "b'" + out.toString().replace("'", "\\'") + "'";
  }
}
