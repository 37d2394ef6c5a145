package io.radixflow.protocol.record;

import java.io.Serializable;

/**
 * A priority for the pages of some tokens.
 *
 * @param tokenStart first token
 * @param tokenEnd end of the tokens; {@link Integer#MAX_VALUE} for all that follow
 * @param priority higher stays longer; it only ever raises a page's
 * @param durationMillis how long it holds from when the tokens are cached; {@link Long#MAX_VALUE}
 *     for as long as the pages are
 */
public record RetentionRange(int tokenStart, int tokenEnd, int priority, long durationMillis)
    implements Serializable {

  public RetentionRange {
    if (tokenStart < 0 || tokenEnd <= tokenStart) {
      throw new IllegalArgumentException(
          "tokens " + tokenStart + " to " + tokenEnd + " are not a range for retention");
    }
    if (durationMillis <= 0) {
      throw new IllegalArgumentException(
          "retention lasts " + durationMillis + " ms; it must be at least 1");
    }
  }
}
