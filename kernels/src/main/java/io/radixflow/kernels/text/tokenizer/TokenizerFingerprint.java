package io.radixflow.kernels.text.tokenizer;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** A SHA-256 over framed strings and numbers, cut to 64 bits. */
final class TokenizerFingerprint {

  private final MessageDigest digest;

  TokenizerFingerprint() {
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  TokenizerFingerprint add(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    add(bytes.length);
    digest.update(bytes);
    return this;
  }

  TokenizerFingerprint add(Iterable<String> texts) {
    for (String text : texts) {
      add(text);
    }
    return add(-1);
  }

  TokenizerFingerprint add(int value) {
    digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(value).array());
    return this;
  }

  TokenizerFingerprint add(int[] values) {
    add(values.length);
    ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES * values.length);
    bytes.asIntBuffer().put(values);
    digest.update(bytes.array());
    return this;
  }

  /** 16 lower-case hexadecimal digits; ends this object's use. */
  String digits() {
    return HexFormat.of().formatHex(digest.digest(), 0, Long.BYTES);
  }
}
