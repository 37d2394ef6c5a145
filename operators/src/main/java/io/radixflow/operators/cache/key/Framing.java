package io.radixflow.operators.cache.key;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Texts as one sequence of bytes that no other texts make: each follows its length. */
public final class Framing {
  private Framing() {}

  /** For each text its length in UTF-8 as a big-endian int, then its bytes. */
  public static byte[] of(String... texts) {
    byte[][] encoded = new byte[texts.length][];
    int length = 0;
    for (int i = 0; i < texts.length; i++) {
      encoded[i] = texts[i].getBytes(StandardCharsets.UTF_8);
      length += Integer.BYTES + encoded[i].length;
    }
    ByteBuffer framed = ByteBuffer.allocate(length);
    for (byte[] text : encoded) {
      framed.putInt(text.length).put(text);
    }
    return framed.array();
  }
}
