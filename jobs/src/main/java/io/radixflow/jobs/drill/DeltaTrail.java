package io.radixflow.jobs.drill;

import io.radixflow.operators.session.Reply;
import io.radixflow.operators.session.ReplyDelta;

/** Follows a turn's deltas as a consumer does, who appends what extends the text. */
final class DeltaTrail {
  private final int[] text;
  private final int tokens;
  private int seen;
  private int seenTokens;
  private boolean ended;
  private String fault;

  /**
   * @param reply the committed reply, or null if there is none
   */
  DeltaTrail(Reply reply) {
    text = reply == null ? null : reply.text().codePoints().toArray();
    tokens = reply == null ? 0 : reply.completionTokens();
  }

  void add(ReplyDelta delta) {
    if (text == null || fault != null) {
      return;
    }
    int[] piece = delta.text().codePoints().toArray();
    int end = delta.offset() + piece.length;
    int endTokens = delta.tokenOffset() + delta.tokens();
    if (delta.offset() > seen || delta.tokenOffset() > seenTokens) {
      fault =
          "a delta at code point %d, token %d behind a gap: only %d and %d were told"
              .formatted(delta.offset(), delta.tokenOffset(), seen, seenTokens);
    } else if (end > text.length || endTokens > tokens || !matches(piece, delta.offset())) {
      fault = "the delta '%s' at %d is not in the reply".formatted(delta.text(), delta.offset());
    } else if (delta.finishReason() != null && end < text.length) {
      fault = "the last delta ends at code point " + end + " of " + text.length;
    }
    seen = Math.max(seen, end);
    seenTokens = Math.max(seenTokens, endTokens);
    ended |= delta.finishReason() != null;
  }

  private boolean matches(int[] piece, int offset) {
    for (int i = 0; i < piece.length; i++) {
      if (text[offset + i] != piece[i]) {
        return false;
      }
    }
    return true;
  }

  /** What is wrong with the turn's deltas, or null. */
  String fault() {
    if (text == null || fault != null) {
      return fault;
    }
    return ended ? null : "the deltas do not end; they told " + seen + " of " + text.length;
  }
}
