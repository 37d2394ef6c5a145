package io.radixflow.operators.session;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Hashes that are the same on every machine and in every release. Parts are framed by their length,
 * so that "ab" and "c" differ from "a" and "bc".
 */
public final class StableHash {
  private StableHash() {}

  /** The first 64 bits of SHA-256 over the framed parts. */
  public static long of64(String... parts) {
    return ByteBuffer.wrap(sha256(frame(parts))).getLong();
  }

  /** SHA-256 over the framed parts, in 64 lower-case hexadecimal digits. */
  public static String hex(String... parts) {
    return HexFormat.of().formatHex(sha256(frame(parts)));
  }

  /** HMAC-SHA256 over the framed parts, in 64 lower-case hexadecimal digits. */
  public static String keyedHex(String key, String... parts) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      return HexFormat.of().formatHex(mac.doFinal(frame(parts)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has HmacSHA256", e);
    }
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  private static byte[] frame(String... parts) {
    byte[][] encoded = new byte[parts.length][];
    int length = 0;
    for (int i = 0; i < parts.length; i++) {
      encoded[i] = parts[i].getBytes(StandardCharsets.UTF_8);
      length += Integer.BYTES + encoded[i].length;
    }
    ByteBuffer framed = ByteBuffer.allocate(length);
    for (byte[] part : encoded) {
      framed.putInt(part.length).put(part);
    }
    return framed.array();
  }
}
