package io.radixflow.engine.cache.key;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Encodes texts unambiguously as one sequence of bytes. The length of each text precedes its bytes.
 */
public final class Framing {
  private Framing() {}

  /** Encodes each text as its length in UTF-8, a big-endian int, and its bytes. */
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
