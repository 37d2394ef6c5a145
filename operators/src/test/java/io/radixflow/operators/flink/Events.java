package io.radixflow.operators.flink;

import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.GenerationOptions;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.record.Origin;
import java.util.List;
import java.util.Random;

/** Makes events for tests, one change at a time. */
record Events(
    EventKind kind,
    String session,
    String branch,
    String turn,
    String tenant,
    String salt,
    List<Message> messages,
    GenerationOptions options,
    boolean replace,
    String newBranch,
    String atTurn,
    Origin origin) {

  static Events of(EventKind kind, String session, String turn) {
    return new Events(
        kind, session, "main", turn, "", "", List.of(), null, false, null, null, null);
  }

  static Events message(String session, String turn) {
    return message(session, turn, "text of " + turn);
  }

  static Events message(String session, String turn, String text) {
    return of(EventKind.MESSAGE, session, turn).with(new Message("user", text));
  }

  static Events fork(String session, String turn, String newBranch, String atTurn) {
    return new Events(
        EventKind.FORK,
        session,
        "main",
        turn,
        "",
        "",
        List.of(),
        null,
        false,
        newBranch,
        atTurn,
        null);
  }

  /**
   * An event of a kind for a session that chance names.
   *
   * @param n its number among {@code count} events
   */
  static Events drawn(Random random, EventKind kind, int sessions, int n, int count) {
    String session = "s" + random.nextInt(sessions);
    String turn = "t" + n;
    return switch (kind) {
      case MESSAGE -> message(session, turn);
      case FORK -> fork(session, turn, "b", null);
      case CANCEL -> of(kind, session, "t" + random.nextInt(count));
      default -> of(kind, session, turn);
    };
  }

  /** The turns that events have answered: each of them once. */
  static List<String> answered(List<Events> events) {
    return events.stream().filter(e -> e.kind != EventKind.CANCEL).map(Events::turn).toList();
  }

  Events with(Message... added) {
    return new Events(
        kind,
        session,
        branch,
        turn,
        tenant,
        salt,
        List.of(added),
        options,
        replace,
        newBranch,
        atTurn,
        origin);
  }

  Events with(GenerationOptions given) {
    return new Events(
        kind, session, branch, turn, tenant, salt, messages, given, replace, newBranch, atTurn,
        origin);
  }

  Events on(String otherBranch) {
    return new Events(
        kind,
        session,
        otherBranch,
        turn,
        tenant,
        salt,
        messages,
        options,
        replace,
        newBranch,
        atTurn,
        origin);
  }

  Events of(String owner) {
    return new Events(
        kind, session, branch, turn, owner, salt, messages, options, replace, newBranch, atTurn,
        origin);
  }

  Events salted(String cacheSalt) {
    return new Events(
        kind, session, branch, turn, tenant, cacheSalt, messages, options, replace, newBranch,
        atTurn, origin);
  }

  Events replacing() {
    return new Events(
        kind, session, branch, turn, tenant, salt, messages, options, true, newBranch, atTurn,
        origin);
  }

  Events at(String otherTurn) {
    return new Events(
        kind, session, branch, turn, tenant, salt, messages, options, replace, newBranch, otherTurn,
        origin);
  }

  Events from(int partition, long offset) {
    return new Events(
        kind,
        session,
        branch,
        turn,
        tenant,
        salt,
        messages,
        options,
        replace,
        newBranch,
        atTurn,
        new Origin(partition, offset, 0));
  }

  static GenerationOptions maxTokens(int tokens) {
    return GenerationOptions.builder().maxTokens(tokens).build();
  }

  static GenerationOptions temperature(double value) {
    return GenerationOptions.builder().temperature(value).build();
  }

  static GenerationOptions priority(int value) {
    return GenerationOptions.builder().priority(value).build();
  }

  ConversationEvent event() {
    return ConversationEvent.builder(kind, session, turn)
        .branch(branch)
        .tenant(tenant)
        .cacheSalt(salt)
        .messages(messages)
        .options(options)
        .replace(replace)
        .newBranch(newBranch)
        .atTurn(atTurn)
        .origin(origin)
        .build();
  }
}
