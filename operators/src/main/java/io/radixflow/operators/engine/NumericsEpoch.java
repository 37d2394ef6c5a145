package io.radixflow.operators.engine;

import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The numerics epoch of a backend with a tokenizer. */
final class NumericsEpoch {
  private NumericsEpoch() {}

  /** The first 16 hexadecimal digits of SHA-256 over backend epoch, a slash and fingerprint. */
  static String of(Backend backend, Tokenizer tokenizer) {
    String text = backend.numericsEpoch() + "/" + tokenizer.fingerprint();
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("the JDK has no SHA-256", e);
    }
  }
}
