package io.radixflow.jobs.client;

import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;
import io.radixflow.operators.record.ToolCall;
import java.util.ArrayList;
import java.util.List;

/**
 * Joins a turn's deltas, which come at least once and from several attempts, into one growing text
 * of one or several parts, and lets the committed reply have the last word.
 */
final class ReplyAssembler {

  /** What a part of the text belongs to; the kind is null for content. */
  private record Part(ReplyDelta.Kind kind, int index, String id) {
    static final Part CONTENT = new Part(null, -1, null);
  }

  /** Where a part begins in the text, in chars. */
  private record Start(int at, Part part) {}

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

  /** Takes what the delta adds; a piece behind a gap waits for the reply. */
  synchronized void delta(ReplyDelta delta) {
    boolean joins = delta.offset() >= 0 && delta.offset() <= codePoints;
    if (committed || delta.attempt() < attempt || !joins) {
      return;
    }
    attempt = delta.attempt();
    join(delta.offset(), new Part(delta.kind(), delta.index(), delta.id()), delta.text());
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
    if (plain && starts.stream().allMatch(start -> start.part().equals(Part.CONTENT))) {
      join(0, Part.CONTENT, reply.text());
      int length = reply.text().codePointCount(0, reply.text().length());
      if (codePoints > length) {
        restart(length);
      }
    } else if (!says(reply)) {
      restart(0);
      replay(reply);
    }
    listener.committed(reply);
  }

  /** Returns whether the parts are those of a reply. */
  private boolean says(Reply reply) {
    String reasoning = reply.reasoning() == null ? "" : reply.reasoning();
    if (!text(null, -1).equals(reply.text())
        || !text(ReplyDelta.Kind.REASONING_CONTENT, -1).equals(reasoning)) {
      return false;
    }
    int calls = 0;
    for (Start start : starts) {
      calls = Math.max(calls, start.part().index() + 1);
    }
    boolean same = calls == reply.toolCalls().size();
    for (int i = 0; same && i < calls; i++) {
      ToolCall call = reply.toolCalls().get(i);
      same =
          text(ReplyDelta.Kind.TOOL_CALL, i).equals(call.name())
              && text(ReplyDelta.Kind.ARGUMENTS, i).equals(call.arguments());
    }
    return same;
  }

  private String text(ReplyDelta.Kind kind, int index) {
    StringBuilder joined = new StringBuilder();
    for (int i = 0; i < starts.size(); i++) {
      Part part = starts.get(i).part();
      if (part.kind() == kind && part.index() == index) {
        int end = i + 1 < starts.size() ? starts.get(i + 1).at() : text.length();
        joined.append(text, starts.get(i).at(), end);
      }
    }
    return joined.toString();
  }

  private void replay(Reply reply) {
    if (reply.reasoning() != null) {
      join(codePoints, new Part(ReplyDelta.Kind.REASONING_CONTENT, -1, null), reply.reasoning());
    }
    join(codePoints, Part.CONTENT, reply.text());
    int index = 0;
    for (ToolCall call : reply.toolCalls()) {
      join(codePoints, new Part(ReplyDelta.Kind.TOOL_CALL, index, call.id()), call.name());
      join(codePoints, new Part(ReplyDelta.Kind.ARGUMENTS, index++, call.id()), call.arguments());
    }
  }

  private void join(int offset, Part part, String piece) {
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
