package io.radixflow.jobs.client;

import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;

/**
 * Joins a turn's deltas, which come at least once and from several attempts, into one growing text,
 * and lets the committed reply have the last word.
 */
final class ReplyAssembler {

  private final ReplyListener listener;
  private final StringBuilder text = new StringBuilder();
  private int codePoints;
  private long attempt;
  private boolean finished;
  private boolean committed;

  ReplyAssembler(ReplyListener listener) {
    this.listener = listener;
  }

  /** Takes what the delta adds; a piece behind a gap waits for the reply. */
  synchronized void delta(ReplyDelta delta) {
    boolean joins = delta.offset() >= 0 && delta.offset() <= codePoints;
    if (committed || delta.attempt() < attempt || !joins) {
      return;
    }
    attempt = delta.attempt();
    join(delta.offset(), delta.text());
    if (delta.finishReason() != null && !finished) {
      finished = true;
      listener.finished(delta);
    }
  }

  /** Completes the text. */
  synchronized void reply(Reply reply) {
    if (committed) {
      return;
    }
    committed = true;
    join(0, reply.text());
    int length = reply.text().codePointCount(0, reply.text().length());
    if (codePoints > length) {
      restart(length);
    }
    listener.committed(reply);
  }

  private void join(int offset, String piece) {
    int at = text.offsetByCodePoints(0, offset);
    int common = commonPrefix(at, piece);
    int end = at + common;
    if (common == piece.length()) {
      return;
    }
    if (end < text.length()) {
      restart(text.codePointCount(0, end));
    }
    String rest = piece.substring(common);
    text.append(rest);
    codePoints += rest.codePointCount(0, rest.length());
    listener.text(rest);
  }

  private void restart(int keep) {
    text.setLength(text.offsetByCodePoints(0, keep));
    codePoints = keep;
    listener.restarted(keep);
  }

  /** Chars of the piece that the text has from {@code at} on, never half a character. */
  private int commonPrefix(int at, String piece) {
    int length = Math.min(text.length() - at, piece.length());
    int common = 0;
    while (common < length && text.charAt(at + common) == piece.charAt(common)) {
      common++;
    }
    boolean split = common > 0 && Character.isHighSurrogate(piece.charAt(common - 1));
    return split ? common - 1 : common;
  }
}
