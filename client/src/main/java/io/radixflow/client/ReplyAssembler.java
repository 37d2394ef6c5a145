package io.radixflow.client;

import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import java.util.ArrayList;
import java.util.List;

/**
 * Joins a turn's deltas into one growing text of one or several parts. Deltas come at least once,
 * and from several attempts. If the committed reply differs from the text, the reply replaces it.
 */
final class ReplyAssembler {

  /** A part, and the number of chars of the text before it. */
  private record Start(int at, TurnPart part) {}

  private final ReplyListener listener;
  private final StringBuilder text = new StringBuilder();
  private final List<Start> starts = new ArrayList<>();
  private int codePoints;
  private long attempt;
  private boolean finished;
  private boolean committed;

  ReplyAssembler(ReplyListener listener) {
    this.listener = listener;
  }

  /** Adds the new part of a delta. A piece after a gap waits for the reply. */
  synchronized void delta(ReplyDelta delta) {
    boolean joins = delta.offset() >= 0 && delta.offset() <= codePoints;
    if (committed || delta.attempt() < attempt || !joins) {
      return;
    }
    attempt = delta.attempt();
    join(delta.offset(), new TurnPart(delta.kind(), delta.index(), delta.id()), delta.text());
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
    boolean plain = reply.reasoning() == null && reply.toolCalls().isEmpty();
    if (plain && starts.stream().allMatch(start -> start.part().equals(TurnPart.CONTENT))) {
      join(0, TurnPart.CONTENT, reply.text());
      int length = reply.text().codePointCount(0, reply.text().length());
      if (codePoints > length) {
        restart(length);
      }
    } else {
      List<PartText> said = PartText.of(reply.message(), reply.order());
      if (!said.equals(parts())) {
        restart(0);
        said.forEach(part -> join(codePoints, part.part(), part.text()));
      }
    }
    listener.committed(reply);
  }

  /** Returns the text so far, part by part. */
  private List<PartText> parts() {
    List<PartText> parts = new ArrayList<>();
    for (int i = 0; i < starts.size(); i++) {
      int end = i + 1 < starts.size() ? starts.get(i + 1).at() : text.length();
      parts.add(new PartText(starts.get(i).part(), text.substring(starts.get(i).at(), end)));
    }
    return parts;
  }

  private void join(int offset, TurnPart part, String piece) {
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
    if (starts.isEmpty() || !starts.get(starts.size() - 1).part().equals(part)) {
      starts.add(new Start(text.length(), part));
    }
    text.append(rest);
    codePoints += rest.codePointCount(0, rest.length());
    if (part.kind() == null) {
      listener.text(rest);
    } else {
      listener.part(part.kind(), part.index(), part.id(), rest);
    }
  }

  private void restart(int keep) {
    text.setLength(text.offsetByCodePoints(0, keep));
    starts.removeIf(start -> start.at() >= text.length());
    codePoints = keep;
    listener.restarted(keep);
  }

  /**
   * Returns how many chars of the piece equal the text from {@code at} on; never half a character.
   */
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
