package io.radixflow.jobs.local;

import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.GenerationOptions;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.record.Origin;
import java.util.List;

/** Events as senders make them. */
final class Events {

  private Events() {}

  static ConversationEvent message(String session, String turn, String text, int maxTokens) {
    GenerationOptions options =
        new GenerationOptions(
            0.8, null, null, null, null, null, null, null, maxTokens, null, 7L, null, null, null);
    return event(
        EventKind.MESSAGE, session, turn, List.of(new Message("user", text)), options, null);
  }

  static ConversationEvent of(EventKind kind, String session, String turn) {
    return event(kind, session, turn, List.of(), null, null);
  }

  static ConversationEvent fork(String session, String turn, String atTurn) {
    return event(EventKind.FORK, session, turn, List.of(), null, atTurn);
  }

  private static ConversationEvent event(
      EventKind kind,
      String session,
      String turn,
      List<Message> messages,
      GenerationOptions options,
      String atTurn) {
    return new ConversationEvent(
        kind,
        session,
        ConversationEvent.MAIN_BRANCH,
        turn,
        "",
        "",
        messages,
        options,
        false,
        kind == EventKind.FORK ? "side" : null,
        atTurn,
        new Origin(-1, -1, 0));
  }
}
