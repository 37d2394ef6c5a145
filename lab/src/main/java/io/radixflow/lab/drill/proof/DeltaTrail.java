package io.radixflow.lab.drill.proof;

import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Follows a turn's deltas like a consumer that appends new text to each part of the reply: content,
 * reasoning, and tool calls.
 *
 * <p>A cancelled reply may end at another position than the deltas of an earlier attempt, because
 * the job went back to a checkpoint and the cancel came earlier or later than before. All deltas
 * are parts of the undisturbed reply, and the last delta of the committed attempt ends where the
 * reply ends.
 */
final class DeltaTrail {

  /** A part of a reply, identified as in deltas. */
  private record Part(ReplyDelta.Kind kind, int index, String id) {}

  /** A code point of the reply and its part. */
  private record Heard(int codePoint, Part part) {}

  private final Map<Part, int[]> texts;
  private final Map<Part, Integer> lengths = new HashMap<>();
  private final List<Heard> heard = new ArrayList<>();
  private final int tokens;
  private final int end;
  private final long attempt;
  private final boolean cancelled;
  private int seenTokens;
  private boolean ended;
  private String fault;

  /**
   * @param reply the committed reply, or null if there is none
   * @param whole the reply whose parts deltas may contain: the same reply, or the undisturbed reply
   *     for a cancelled turn
   * @param cancelled whether a client cancelled the turn
   */
  DeltaTrail(Reply reply, Reply whole, boolean cancelled) {
    this.cancelled = cancelled;
    attempt = reply == null ? 0 : reply.attempt();
    texts = reply == null ? null : parts(whole);
    tokens = reply == null ? 0 : whole.usage().completionTokens();
    end = reply == null ? 0 : parts(reply).values().stream().mapToInt(text -> text.length).sum();
  }

  private static Map<Part, int[]> parts(Reply reply) {
    Map<Part, int[]> parts = new HashMap<>();
    parts.put(new Part(null, -1, null), codePoints(reply.text()));
    String reasoning = reply.reasoning() == null ? "" : reply.reasoning();
    parts.put(new Part(ReplyDelta.Kind.REASONING_CONTENT, -1, null), codePoints(reasoning));
    for (int i = 0; i < reply.toolCalls().size(); i++) {
      ToolCall call = reply.toolCalls().get(i);
      parts.put(new Part(ReplyDelta.Kind.TOOL_CALL, i, call.id()), codePoints(call.name()));
      parts.put(new Part(ReplyDelta.Kind.ARGUMENTS, i, call.id()), codePoints(call.arguments()));
    }
    return parts;
  }

  private static int[] codePoints(String text) {
    return text.codePoints().toArray();
  }

  void add(ReplyDelta delta) {
    if (texts == null || fault != null) {
      return;
    }
    int[] piece = codePoints(delta.text());
    int until = delta.offset() + piece.length;
    int untilTokens = delta.tokenOffset() + delta.tokens();
    boolean last = delta.finishReason() != null && (!cancelled || delta.attempt() == attempt);
    if (delta.offset() > heard.size() || delta.tokenOffset() > seenTokens) {
      fault =
          "a delta at code point %d, token %d after a gap: only %d and %d came before"
              .formatted(delta.offset(), delta.tokenOffset(), heard.size(), seenTokens);
    } else if (untilTokens > tokens || !append(delta, piece)) {
      fault = "the delta '%s' at %d is not in the reply".formatted(delta.text(), delta.offset());
    } else if (last && until != end) {
      fault = "the last delta ends at code point " + until + " of " + end;
    }
    seenTokens = Math.max(seenTokens, untilTokens);
    ended |= last;
  }

  /** Adds a piece; returns false if it differs from earlier deltas or from the reply. */
  private boolean append(ReplyDelta delta, int[] piece) {
    Part part = new Part(delta.kind(), delta.index(), delta.id());
    int[] text = texts.get(part);
    for (int i = 0; i < piece.length; i++) {
      Heard each = new Heard(piece[i], part);
      int at = delta.offset() + i;
      if (at < heard.size()) {
        if (!heard.get(at).equals(each)) {
          return false;
        }
        continue;
      }
      int length = lengths.merge(part, 1, Integer::sum);
      if (text == null || length > text.length || text[length - 1] != piece[i]) {
        return false;
      }
      heard.add(each);
    }
    return true;
  }

  /** Returns the first fault of the turn's deltas, or null if there is none. */
  String fault() {
    if (texts == null || fault != null) {
      return fault;
    }
    return ended ? null : "the deltas do not end; they have " + heard.size() + " of " + end;
  }
}
