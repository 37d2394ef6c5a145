package io.radixflow.models;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * SHA-256 hashes, and their first 16 hexadecimal digits, which identify models, tokenizers and
 * epochs.
 */
public final class Sha256 {
  private Sha256() {}

  public static MessageDigest digest() {
    return digest("SHA-256");
  }

  /** Creates a digest with an algorithm that every JDK has. */
  public static MessageDigest digest(String algorithm) {
    try {
      return MessageDigest.getInstance(algorithm);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has " + algorithm, e);
    }
  }

  /** The hash of some bytes. */
  public static byte[] of(byte[] bytes) {
    return digest().digest(bytes);
  }

  /** The first 16 lower-case hexadecimal digits of a hash. */
  public static String digits(byte[] hash) {
    return HexFormat.of().formatHex(hash, 0, Long.BYTES);
  }

  /** The first 16 lower-case hexadecimal digits of a text's hash. */
  public static String digits(String text) {
    return digits(of(text.getBytes(StandardCharsets.UTF_8)));
  }
}
