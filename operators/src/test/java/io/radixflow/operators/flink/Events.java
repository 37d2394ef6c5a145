package io.radixflow.operators.flink;

import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Origin;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;

/** Makes events for tests, one change at a time. */
public record Events(ConversationEvent event) {

  public static Events of(EventKind kind, String session, String turn) {
    return new Events(ConversationEvent.builder(kind, session, turn).build());
  }

  public static Events message(String session, String turn) {
    return message(session, turn, "text of " + turn);
  }

  public static Events message(String session, String turn, String text) {
    return of(EventKind.MESSAGE, session, turn).with(new Message("user", text));
  }

  public static Events fork(String session, String turn, String newBranch, String atTurn) {
    return of(EventKind.FORK, session, turn).with(e -> e.newBranch(newBranch).atTurn(atTurn));
  }

  /**
   * An event of a kind for a session that chance names.
   *
   * @param n its number among {@code count} events
   */
  public static Events drawn(Random random, EventKind kind, int sessions, int n, int count) {
    String session = "s" + random.nextInt(sessions);
    String turn = "t" + n;
    return switch (kind) {
      case MESSAGE -> message(session, turn);
      case APPEND -> of(kind, session, turn).with(new Message("user", "text of " + turn));
      case DELETE_TURN -> of(kind, session, turn).at("t" + random.nextInt(count));
      case FORK -> fork(session, turn, "b", null);
      case CANCEL -> of(kind, session, "t" + random.nextInt(count));
      default -> of(kind, session, turn);
    };
  }

  /** The turns that events have answered: each of them once. */
  public static List<String> answered(List<Events> events) {
    return events.stream()
        .map(Events::event)
        .filter(e -> e.kind() != EventKind.CANCEL)
        .map(ConversationEvent::turn)
        .toList();
  }

  /** Returns the event with a change. */
  public Events with(UnaryOperator<ConversationEvent.Builder> change) {
    return new Events(change.apply(event.toBuilder()).build());
  }

  public Events with(Message... added) {
    return with(e -> e.messages(List.of(added)));
  }

  public Events with(GenerationOptions given) {
    return with(e -> e.options(given));
  }

  public Events on(String branch) {
    return with(e -> e.branch(branch));
  }

  public Events of(String tenant) {
    return with(e -> e.tenant(tenant));
  }

  public Events salted(String cacheSalt) {
    return with(e -> e.cacheSalt(cacheSalt));
  }

  public Events replacing() {
    return with(e -> e.replace(true));
  }

  public Events at(String turn) {
    return with(e -> e.atTurn(turn));
  }

  public Events from(int partition, long offset) {
    return with(e -> e.origin(new Origin(partition, offset, 0)));
  }

  public static GenerationOptions maxTokens(int tokens) {
    return GenerationOptions.builder().maxTokens(tokens).build();
  }

  public static GenerationOptions temperature(double value) {
    return GenerationOptions.builder().temperature(value).build();
  }

  public static GenerationOptions priority(int value) {
    return GenerationOptions.builder().priority(value).build();
  }
}
