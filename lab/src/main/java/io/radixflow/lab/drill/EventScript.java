package io.radixflow.lab.drill;

import io.radixflow.engine.request.Step;
import io.radixflow.lab.traffic.KafkaReply;
import io.radixflow.lab.traffic.Script;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Sends the events of a session, a few of its turns at a time. A cancel follows its turn after a
 * moment or precedes it, and has no reply to wait for.
 */
final class EventScript implements Script<ConversationEvent, KafkaReply> {
  private static final int DEPTH = 2;

  private final Deque<ConversationEvent> left;
  private final Set<String> asked = new HashSet<>();
  private final Map<String, Reply> replies = new HashMap<>();
  private boolean quiet;

  EventScript(List<ConversationEvent> events) {
    left = new ArrayDeque<>(events);
  }

  @Override
  public boolean ended() {
    return left.isEmpty();
  }

  @Override
  public Step<ConversationEvent> next(int inFlight) {
    ConversationEvent next = left.peek();
    if (next == null) {
      return null;
    }
    if (next.kind() == EventKind.CANCEL) {
      left.remove();
      // a cancel before its turn is sent immediately, so that it stays before the turn
      boolean early = next.turn() != null && !asked.contains(next.turn());
      return new Step<>(next, early ? 0 : SessionScript.pauseBefore(next), false);
    }
    boolean alone = quiet || SessionScript.needsQuiet(next);
    if (inFlight == DEPTH || alone && inFlight > 0) {
      return null;
    }
    left.remove();
    quiet = SessionScript.needsQuiet(next);
    asked.add(next.turn());
    String calls = SessionScript.resultsOf(next);
    return new Step<>(
        calls == null ? next : SessionScript.withResults(next, replies.get(calls)), 0, true);
  }

  @Override
  public void answered(ConversationEvent turn, KafkaReply reply) {
    replies.put(turn.turn(), reply.reply());
  }
}
