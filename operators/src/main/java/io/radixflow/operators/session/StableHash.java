package io.radixflow.operators.session;

import io.radixflow.operators.cache.Framing;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * Hashes that are the same on every machine and in every release. Parts are framed by their length,
 * so that "ab" and "c" differ from "a" and "bc".
 */
public final class StableHash {
  private StableHash() {}

  /** The first 64 bits of SHA-256 over the framed parts. */
  public static long of64(String... parts) {
    return ByteBuffer.wrap(sha256(Framing.of(parts))).getLong();
  }

  /** SHA-256 over the framed parts, in 64 lower-case hexadecimal digits. */
  public static String hex(String... parts) {
    return HexFormat.of().formatHex(sha256(Framing.of(parts)));
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
