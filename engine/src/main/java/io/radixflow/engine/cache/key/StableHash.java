package io.radixflow.engine.cache.key;

import io.radixflow.models.Sha256;
import java.nio.ByteBuffer;
import java.util.HexFormat;

/**
 * Hashes that are the same on every machine and in every release. Parts are framed by their length,
 * so that "ab" and "c" differ from "a" and "bc".
 */
public final class StableHash {
  private StableHash() {}

  /** Returns the first 64 bits of SHA-256 over the framed parts. */
  public static long of64(String... parts) {
    return ByteBuffer.wrap(Sha256.of(Framing.of(parts))).getLong();
  }

  /** Returns the SHA-256 over the framed parts, in 64 lower-case hexadecimal digits. */
  public static String hex(String... parts) {
    return HexFormat.of().formatHex(Sha256.of(Framing.of(parts)));
  }
}
