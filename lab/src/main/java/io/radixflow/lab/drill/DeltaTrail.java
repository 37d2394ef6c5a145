package io.radixflow.lab.drill;

import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;

/**
 * Follows a turn's deltas like a consumer that appends what extends the text.
 *
 * <p>A cancelled reply may end elsewhere than the deltas of an earlier attempt: the job went back
 * to a checkpoint, and the cancel came sooner or later than before. All deltas are parts of the
 * undisturbed reply, and the committed attempt's last delta ends where the reply does.
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
   * @param whole the text that deltas may contain: the same, or the undisturbed reply to a
   *     cancelled turn
   * @param cancelled whether a client cancelled the turn
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
    int until = delta.offset() + piece.length;
    int untilTokens = delta.tokenOffset() + delta.tokens();
    boolean last = delta.finishReason() != null && (!cancelled || delta.attempt() == attempt);
    if (delta.offset() > seen || delta.tokenOffset() > seenTokens) {
      fault =
          "a delta at code point %d, token %d behind a gap: only %d and %d came before"
              .formatted(delta.offset(), delta.tokenOffset(), seen, seenTokens);
    } else if (until > text.length || untilTokens > tokens || !matches(piece, delta.offset())) {
      fault = "the delta '%s' at %d is not in the reply".formatted(delta.text(), delta.offset());
    } else if (last && until != end) {
      fault = "the last delta ends at code point " + until + " of " + end;
    }
    seen = Math.max(seen, until);
    seenTokens = Math.max(seenTokens, untilTokens);
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

  /** Returns what is wrong with the turn's deltas, or null if nothing is. */
  String fault() {
    if (text == null || fault != null) {
      return fault;
    }
    return ended ? null : "the deltas do not end; they have " + seen + " of " + end;
  }
}
