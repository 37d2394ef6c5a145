package io.radixflow.engine.draft;

import io.radixflow.protocol.PublicApi;
import java.io.Serializable;
import java.util.Objects;

/**
 * How far steps run ahead of a reply on guesses of what it says next. Replies are the same without.
 *
 * @param mode when guesses are made
 * @param drafts most guesses of a request that one step verifies, 1 to 64
 * @param historyBytes memory for turns that have ended, from which drafts of others of the same
 *     tenant are made; 0 for none
 */
@PublicApi
public record SpeculationOptions(Mode mode, int drafts, long historyBytes) implements Serializable {
  /** When drafts are made. */
  public enum Mode {
    /** Never. */
    OFF,
    /** Where they were measured to pay. */
    AUTO,
    /** Wherever there is anything to guess from, whatever it costs; for tests. */
    ALWAYS
  }

  /** Memory for turns that have ended, if no other is asked for. */
  public static final long DEFAULT_HISTORY = 16L << 20;

  /** Up to 16 drafts, where they pay. */
  public static final SpeculationOptions DEFAULT = new SpeculationOptions(Mode.AUTO, 16);

  /** No drafts. */
  public static final SpeculationOptions OFF = new SpeculationOptions(Mode.OFF, 16);

  public SpeculationOptions {
    Objects.requireNonNull(mode, "speculation mode");
    if (drafts < 1 || drafts > 64) {
      throw new IllegalArgumentException(drafts + " drafts a step; there may be 1 to 64");
    }
    if (historyBytes < 0) {
      throw new IllegalArgumentException(historyBytes + " bytes of history");
    }
  }

  /** Creates options with a history of {@link #DEFAULT_HISTORY}. */
  public SpeculationOptions(Mode mode, int drafts) {
    this(mode, drafts, DEFAULT_HISTORY);
  }
}
