package io.radixflow.models.hub;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A model's name on the hub: {@code owner/name}, {@code owner/name:Q4_K_M} for the GGUF model with
 * a quantisation, or {@code owner/name/file.gguf}, which may be in a folder. A {@code @revision} at
 * the end is a branch, a tag or a commit. Every part is safe as a file name: no separators, no
 * leading dot, no {@code ..}.
 *
 * @param owner user or organisation
 * @param name repository
 * @param quantisation quantisation of a GGUF file in the repository, or null
 * @param file a GGUF file in the repository, or null
 * @param revision a branch, a tag or a commit
 */
record HubName(String owner, String name, String quantisation, String file, String revision) {
  /** The revision of a name that has none. */
  static final String MAIN = "main";

  private static final String PART = "[A-Za-z0-9_][A-Za-z0-9._-]{0,95}";
  private static final Pattern NAME =
      Pattern.compile(
          "(OWN)/(OWN)(?::(OWN)|/((?:OWN/)?OWN\\.gguf))?(?:@(OWN))?".replace("OWN", PART));

  /** Parses a hub name. Returns empty if the text is not a hub name. */
  static Optional<HubName> parse(String text) {
    Matcher matcher = NAME.matcher(text);
    boolean valid = matcher.matches() && !text.contains("..");
    return valid
        ? Optional.of(
            new HubName(
                matcher.group(1),
                matcher.group(2),
                matcher.group(3),
                matcher.group(4),
                matcher.group(5) == null ? MAIN : matcher.group(5)))
        : Optional.empty();
  }

  /** {@code owner/name}. */
  String repository() {
    return owner + "/" + name;
  }

  @Override
  public String toString() {
    String of = quantisation == null ? "" : ":" + quantisation;
    return repository() + (file == null ? of : "/" + file) + suffix();
  }

  /** {@code @revision}, or empty for the main branch. */
  String suffix() {
    return revision.equals(MAIN) ? "" : "@" + revision;
  }
}
