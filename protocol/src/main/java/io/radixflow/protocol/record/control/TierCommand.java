package io.radixflow.protocol.record.control;

import java.util.Locale;

/**
 * A control event's change to a tier below the device.
 *
 * @param bytes the tier's size from now on; {@link #CONFIGURED} for the configured size, or if the
 *     command has no size
 */
public record TierCommand(Action action, Tier tier, long bytes) {

  /** Means the configured size. */
  public static final long CONFIGURED = 0;

  /** The requested change. */
  public enum Action {
    /** Puts a tier to use. */
    ATTACH,
    /** Stops using a tier; pages on a disk stay there. */
    DETACH,
    /** Changes the size of a tier. */
    RESIZE,
    /** Empties a tier. */
    FLUSH;

    /** Returns whether a size may be given. */
    public boolean takesSize() {
      return this == ATTACH || this == RESIZE;
    }
  }

  /** The tiers that can be switched. */
  public enum Tier {
    HOST,
    DISK
  }

  public TierCommand {
    if (bytes < 0 || bytes > 0 && !action.takesSize()) {
      throw new IllegalArgumentException(action + " with a size of " + bytes + " bytes");
    }
  }

  /**
   * Reads what {@link #toString} has written.
   *
   * @throws IllegalArgumentException if it is something else
   */
  public static TierCommand parse(String text) {
    String[] words = text == null ? new String[0] : text.split(" ");
    if (words.length < 2 || words.length > 3) {
      throw new IllegalArgumentException("'" + text + "' is not a command for a tier");
    }
    return new TierCommand(
        Action.valueOf(words[0].toUpperCase(Locale.ROOT)),
        Tier.valueOf(words[1].toUpperCase(Locale.ROOT)),
        words.length == 2 ? CONFIGURED : Long.parseLong(words[2]));
  }

  /**
   * Returns the action, the tier, and the size in bytes if there is one: {@code resize disk
   * 1048576}.
   */
  @Override
  public String toString() {
    String words = (action + " " + tier).toLowerCase(Locale.ROOT);
    return bytes == CONFIGURED ? words : words + " " + bytes;
  }
}
