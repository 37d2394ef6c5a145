package io.radixflow.engine.draft;

import io.radixflow.protocol.PublicApi;
import java.io.Serializable;
import java.util.Objects;

/**
 * How steps guess the next tokens of replies and verify the guesses. Guesses do not change replies.
 *
 * @param mode when guesses are made
 * @param drafts maximum guesses of a request that one step verifies, 1 to 64
 * @param historyBytes memory for the tokens of ended turns, which are the source of drafts for
 *     other turns of the same tenant; 0 for none
 */
@PublicApi
public record SpeculationOptions(Mode mode, int drafts, long historyBytes) implements Serializable {
  /** When drafts are made. */
  public enum Mode {
    OFF,
    /** Only if measurements show that they pay. */
    AUTO,
    /** Always if a guess is possible, regardless of the cost; for tests. */
    ALWAYS
  }

  /** Default memory for the tokens of ended turns. */
  public static final long DEFAULT_HISTORY = 16L << 20;

  /** Up to 16 drafts, where they pay. */
  public static final SpeculationOptions DEFAULT = new SpeculationOptions(Mode.AUTO, 16);

  /** No drafts. */
  public static final SpeculationOptions OFF = new SpeculationOptions(Mode.OFF, 16);

  public SpeculationOptions {
    Objects.requireNonNull(mode, "speculation mode");
    if (drafts < 1 || drafts > 64) {
      throw new IllegalArgumentException(drafts + " drafts per step; it must be 1 to 64");
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
