package io.radixflow.kernels.model.hub;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A model's name on the hub: {@code owner/name} or {@code owner/name/file.gguf}. Every part is safe
 * as the name of a file: no separators, no leading dot, no {@code ..}.
 *
 * @param owner user or organisation
 * @param name repository
 * @param file a GGUF file of it, or null
 */
record HubName(String owner, String name, String file) {
  private static final String PART = "[A-Za-z0-9_][A-Za-z0-9._-]{0,95}";
  private static final Pattern NAME =
      Pattern.compile("(" + PART + ")/(" + PART + ")(?:/(" + PART + "\\.gguf))?");

  /** Empty if the text has not the form of a hub name. */
  static Optional<HubName> parse(String text) {
    Matcher matcher = NAME.matcher(text);
    boolean valid = matcher.matches() && !text.contains("..");
    return valid
        ? Optional.of(new HubName(matcher.group(1), matcher.group(2), matcher.group(3)))
        : Optional.empty();
  }

  /** {@code owner/name}. */
  String repository() {
    return owner + "/" + name;
  }

  @Override
  public String toString() {
    return file == null ? repository() : repository() + "/" + file;
  }
}
