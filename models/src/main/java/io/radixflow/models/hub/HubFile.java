package io.radixflow.models.hub;

import java.util.regex.Pattern;

/**
 * A file of a repository, as the hub lists it.
 *
 * @param name a plain file name, or the path of a GGUF file in a folder
 * @param size bytes
 * @param hash 64 hexadecimal digits: SHA-256 of the content; 40: SHA-1 of the git blob
 */
record HubFile(String name, long size, String hash) {
  private static final String PART = "[A-Za-z0-9_][A-Za-z0-9._-]{0,200}";
  private static final Pattern NAME = Pattern.compile(PART + "|" + PART + "/" + PART + "\\.gguf");

  /**
   * Returns whether a file can safely be stored under a listed name. The name must be a plain file
   * name, or a GGUF file in a folder, because repositories have folders for models with several
   * files.
   */
  static boolean isPlain(String name) {
    return NAME.matcher(name).matches() && !name.contains("..");
  }

  boolean isGitBlob() {
    return hash.length() == 40;
  }
}
