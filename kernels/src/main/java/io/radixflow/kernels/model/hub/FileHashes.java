package io.radixflow.kernels.model.hub;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Hashes of files as the hub lists them: SHA-256, or SHA-1 as Git names blobs. */
final class FileHashes {
  private FileHashes() {}

  /** The hash of a file in lower-case hexadecimal digits. */
  static String of(Path file, boolean gitBlob) throws IOException {
    MessageDigest digest = digest(gitBlob ? "SHA-1" : "SHA-256");
    if (gitBlob) {
      digest.update(("blob " + Files.size(file) + "\0").getBytes(StandardCharsets.US_ASCII));
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] buffer = new byte[1 << 16];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        digest.update(buffer, 0, read);
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest digest(String algorithm) {
    try {
      return MessageDigest.getInstance(algorithm);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has " + algorithm, e);
    }
  }
}
