package io.radixflow.protocol.record;

import java.io.Serializable;

/**
 * A priority for the pages of some tokens.
 *
 * @param tokenStart first token
 * @param tokenEnd end of the tokens; {@link Integer#MAX_VALUE} for all that follow
 * @param priority higher stays longer; it never lowers a page's priority
 * @param durationMillis how long the priority applies after the tokens are cached; {@link
 *     Long#MAX_VALUE} for the lifetime of the pages
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
