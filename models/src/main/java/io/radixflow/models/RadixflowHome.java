package io.radixflow.models;

import java.nio.file.Path;
import java.util.Map;

/**
 * The directories of this user. If {@code $RADIXFLOW_HOME} is set, all of them are in it; otherwise
 * their paths follow the XDG Base Directory Specification. They need not exist yet.
 */
public final class RadixflowHome {
  private static final String NAME = "radixflow";

  private final Map<String, String> environment;

  RadixflowHome(Map<String, String> environment) {
    this.environment = environment;
  }

  /**
   * Returns the directory of files that can be fetched or computed again: models, fingerprints,
   * logs. It is {@code $RADIXFLOW_HOME}, else {@code $XDG_CACHE_HOME/radixflow}, which is {@code
   * ~/.cache/radixflow} by default.
   */
  public static Path path() {
    return new RadixflowHome(System.getenv()).cache();
  }

  /**
   * Returns the directory of data that users made, such as conversations. It is {@code
   * $RADIXFLOW_HOME}, else {@code $XDG_DATA_HOME/radixflow}, which is {@code
   * ~/.local/share/radixflow} by default.
   */
  public static Path data() {
    return new RadixflowHome(System.getenv()).conversations();
  }

  Path cache() {
    return directory("XDG_CACHE_HOME", Path.of(".cache"));
  }

  Path conversations() {
    return directory("XDG_DATA_HOME", Path.of(".local", "share"));
  }

  private Path directory(String variable, Path belowHome) {
    String own = environment.get("RADIXFLOW_HOME");
    if (own != null && !own.isBlank()) {
      return Path.of(own).toAbsolutePath();
    }
    Path base = absolute(variable);
    return (base == null ? home().resolve(belowHome) : base).resolve(NAME).toAbsolutePath();
  }

  /** Returns {@code $HOME}, or else Java's home directory, which comes from the user database. */
  private Path home() {
    Path home = absolute("HOME");
    return home == null ? Path.of(System.getProperty("user.home")) : home;
  }

  /**
   * Returns the path in a variable; null if it is relative, because the specification ignores
   * relative paths.
   */
  private Path absolute(String variable) {
    String value = environment.get(variable);
    return value == null || value.isBlank() || !Path.of(value).isAbsolute() ? null : Path.of(value);
  }
}
