package io.radixflow.text.tokenizer;

import io.radixflow.models.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/** A SHA-256 over length-prefixed strings and numbers, shortened to 64 bits. */
final class TokenizerFingerprint {

  private final MessageDigest digest = Sha256.digest();

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

  /** Returns 16 lower-case hexadecimal digits. The object cannot be used afterwards. */
  String digits() {
    return Sha256.digits(digest.digest());
  }
}
