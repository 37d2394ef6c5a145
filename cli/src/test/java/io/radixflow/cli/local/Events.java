package io.radixflow.cli.local;

import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Origin;
import io.radixflow.text.template.Message;
import java.util.List;

/** Events as senders make them. */
final class Events {

  private Events() {}

  static ConversationEvent message(String session, String turn, String text, int maxTokens) {
    GenerationOptions options =
        GenerationOptions.builder().temperature(0.8).maxTokens(maxTokens).seed(7L).build();
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
    return ConversationEvent.builder(kind, session, turn)
        .messages(messages)
        .options(options)
        .newBranch(kind == EventKind.FORK ? "side" : null)
        .atTurn(atTurn)
        .origin(new Origin(-1, -1, 0))
        .build();
  }
}
