package io.radixflow.models.hub;

import io.radixflow.models.Sha256;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.HexFormat;

/** Hashes of files as the hub lists them: SHA-256, or the SHA-1 of a Git blob. */
final class FileHashes {
  private FileHashes() {}

  /** Returns the hash of a file in lower-case hexadecimal digits. */
  static String of(Path file, boolean gitBlob) throws IOException {
    MessageDigest digest = Sha256.digest(gitBlob ? "SHA-1" : "SHA-256");
    if (gitBlob) {
      digest.update(("blob " + Files.size(file) + "\0").getBytes(StandardCharsets.US_ASCII));
    }
    try (OutputStream out = new DigestOutputStream(OutputStream.nullOutputStream(), digest)) {
      Files.copy(file, out);
    }
    return HexFormat.of().formatHex(digest.digest());
  }
}
