package io.radixflow.lab.drill;

import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;

/**
 * Follows a turn's deltas as a consumer does, who appends what extends the text.
 *
 * <p>A reply that somebody cancelled may end elsewhere than an earlier attempt had told: the job
 * went back to a checkpoint, and the cancel came sooner or later than before. All that was told is
 * the undisturbed reply's, and the committed attempt's last delta ends where the reply does.
 */
final class DeltaTrail {
  private final int[] text;
  private final int tokens;
  private final int end;
  private final long attempt;
  private final boolean cancelled;
  private int seen;
  private int seenTokens;
  private boolean ended;
  private String fault;

  /**
   * @param reply the committed reply, or null if there is none
   * @param whole what deltas may tell: the same, or the undisturbed reply to a cancelled turn
   * @param cancelled whether somebody cancelled the turn
   */
  DeltaTrail(Reply reply, Reply whole, boolean cancelled) {
    this.cancelled = cancelled;
    attempt = reply == null ? 0 : reply.attempt();
    text = reply == null ? null : whole.text().codePoints().toArray();
    tokens = reply == null ? 0 : whole.usage().completionTokens();
    end = reply == null ? 0 : reply.text().codePointCount(0, reply.text().length());
  }

  void add(ReplyDelta delta) {
    if (text == null || fault != null) {
      return;
    }
    int[] piece = delta.text().codePoints().toArray();
    int told = delta.offset() + piece.length;
    int toldTokens = delta.tokenOffset() + delta.tokens();
    boolean last = delta.finishReason() != null && (!cancelled || delta.attempt() == attempt);
    if (delta.offset() > seen || delta.tokenOffset() > seenTokens) {
      fault =
          "a delta at code point %d, token %d behind a gap: only %d and %d were told"
              .formatted(delta.offset(), delta.tokenOffset(), seen, seenTokens);
    } else if (told > text.length || toldTokens > tokens || !matches(piece, delta.offset())) {
      fault = "the delta '%s' at %d is not in the reply".formatted(delta.text(), delta.offset());
    } else if (last && told != end) {
      fault = "the last delta ends at code point " + told + " of " + end;
    }
    seen = Math.max(seen, told);
    seenTokens = Math.max(seenTokens, toldTokens);
    ended |= last;
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
    return ended ? null : "the deltas do not end; they told " + seen + " of " + end;
  }
}
