package io.radixflow.kernels.model.hub;

import java.util.regex.Pattern;

/**
 * A file of a repository as the hub lists it.
 *
 * @param name a plain file name
 * @param size bytes
 * @param hash 64 hexadecimal digits: SHA-256 of the content; 40: SHA-1 of the git blob
 */
record HubFile(String name, long size, String hash) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,200}");

  /** Returns whether a listed name is a plain file name, safe to store under. */
  static boolean isPlain(String name) {
    return NAME.matcher(name).matches() && !name.contains("..");
  }

  boolean isGitBlob() {
    return hash.length() == 40;
  }
}
