package io.radixflow.operators.cache.key;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 without checked exceptions: every JDK has it. */
final class Sha256 {
  private Sha256() {}

  static MessageDigest open() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("the JDK has no SHA-256", e);
    }
  }

  static byte[] of(byte[] bytes) {
    return open().digest(bytes);
  }
}
