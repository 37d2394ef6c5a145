package io.radixflow.operators;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 without checked exceptions: every JDK has it. */
public final class Sha256 {
  private Sha256() {}

  public static MessageDigest open() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("the JDK has no SHA-256", e);
    }
  }

  public static byte[] of(byte[] bytes) {
    return open().digest(bytes);
  }
}
