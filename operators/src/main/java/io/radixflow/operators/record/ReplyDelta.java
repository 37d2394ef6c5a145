package io.radixflow.operators.record;

/**
 * A piece of a reply under way, at least once; a Flink POJO. Consumers append what extends the text
 * they have: pieces that overlap are equal.
 *
 * @param choice index of the choice, 0
 * @param offset code points of reply text before {@code text}
 * @param tokenOffset generated tokens before those of this piece
 * @param tokens how many tokens this piece stands for
 * @param attempt epoch of the operator; the highest wins
 * @param text the piece, whole characters
 * @param finishReason in the last piece, else null
 * @param promptTokens in the last piece, as {@link Reply}
 * @param cachedTokens in the last piece
 * @param completionTokens in the last piece
 * @param tiers in the last piece
 */
public record ReplyDelta(
    String session,
    String branch,
    String turn,
    int choice,
    int offset,
    int tokenOffset,
    int tokens,
    long attempt,
    String text,
    String finishReason,
    int promptTokens,
    int cachedTokens,
    int completionTokens,
    TierUsage tiers) {

  /** A piece of a reply for which the device had all that was cached. */
  public ReplyDelta(
      String session,
      String branch,
      String turn,
      int choice,
      int offset,
      int tokenOffset,
      int tokens,
      long attempt,
      String text,
      String finishReason,
      int promptTokens,
      int cachedTokens,
      int completionTokens) {
    this(
        session,
        branch,
        turn,
        choice,
        offset,
        tokenOffset,
        tokens,
        attempt,
        text,
        finishReason,
        promptTokens,
        cachedTokens,
        completionTokens,
        TierUsage.NONE);
  }
}
