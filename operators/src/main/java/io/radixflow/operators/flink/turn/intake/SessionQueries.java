package io.radixflow.operators.flink.turn.intake;

import io.radixflow.operators.flink.state.History;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.flink.state.SessionStore;
import io.radixflow.operators.flink.turn.end.PageLocations;
import io.radixflow.operators.flink.turn.run.ReplyOutput;
import io.radixflow.operators.flink.turn.run.TurnQueues;
import io.radixflow.operators.flink.turn.run.TurnStates;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.kv.TierTokens;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.flink.api.common.operators.MailboxExecutor;

/**
 * Answers queries from the session's state and from the engine. The engine looks up where the
 * session's pages are, and its answer comes in a separate mail.
 *
 * <p>Owns the queries that wait for the engine. They are not in state: before a barrier, and before
 * their session ends, they are answered without the engine. Only the task's thread uses it.
 */
public final class SessionQueries {
  private final SessionStore sessions;
  private final TurnQueues queues;
  private final TurnStates turns;
  private final PageLocations locations;
  private final MailboxExecutor mailbox;
  private final ReplyOutput output;
  private final List<Asked> open = new ArrayList<>();

  /** A query that waits for the engine; compared by identity. */
  private static final class Asked {
    final ConversationEvent event;
    final List<Reply.Item> items;
    final boolean running;
    final PageLocations.Look look;

    Asked(
        ConversationEvent event, List<Reply.Item> items, boolean running, PageLocations.Look look) {
      this.event = event;
      this.items = items;
      this.running = running;
      this.look = look;
    }
  }

  public SessionQueries(
      SessionStore sessions,
      TurnQueues queues,
      TurnStates turns,
      PageLocations locations,
      MailboxExecutor mailbox,
      ReplyOutput output) {
    this.sessions = sessions;
    this.queues = queues;
    this.turns = turns;
    this.locations = locations;
    this.mailbox = mailbox;
    this.output = output;
  }

  /** Answers a query of the current session, now or later. */
  void ask(ConversationEvent event, SessionContext session) throws Exception {
    SessionSlot slot = session.slot();
    History history = session.history();
    if (event.turn() == null) {
      throw new RefusedException("a query needs a turn id for its answer");
    }
    if (event.atTurn() != null) {
      TurnIntake.requireAlive(slot);
      if (!slot.opened()) {
        throw TurnIntake.noSession(session);
      }
      output.answer(event, turns.of(session, event.atTurn()));
      return;
    }
    if (!history.hasBranch(event.branch())) {
      throw new RefusedException(
          ErrorCode.UNKNOWN_BRANCH, "there is no branch '" + event.branch() + "'");
    }
    Conversation conversation = session.conversation(event.branch());
    List<Reply.Item> items = items(conversation);
    switch (slot.life()) {
      case CLOSED -> output.answer(event, items, "closed", null);
      case ERASED -> output.answer(event, items, "erased", null);
      case OPEN -> {
        boolean running = queues.isBusy(session.id());
        if (slot.opened() || running) {
          locate(event, session, conversation, items, running);
        } else {
          output.answer(event, items, "unknown", null);
        }
      }
    }
  }

  /** Returns the branch's system prompt and its finished turns that are kept, oldest first. */
  private static List<Reply.Item> items(Conversation conversation) {
    List<Reply.Item> items = new ArrayList<>();
    if (conversation.system() != null) {
      items.add(new Reply.Item(null, "system", conversation.system()));
    }
    for (Turn turn : conversation.path()) {
      if (turn.hidden()) {
        continue;
      }
      for (Message message : turn.messages()) {
        items.add(new Reply.Item(turn.turn(), message));
      }
      if (turn.reply() != null) {
        items.add(
            new Reply.Item(
                turn.turn(),
                turn.reply(),
                turn.finishReason(),
                turn.details().metadata(),
                turn.details().order()));
      }
    }
    return items;
  }

  private void locate(
      ConversationEvent event,
      SessionContext session,
      Conversation conversation,
      List<Reply.Item> items,
      boolean running)
      throws Exception {
    Asked asked =
        new Asked(event, items, running, locations.look(session, event.branch(), conversation));
    open.add(asked);
    if (asked.look.places().isDone()) {
      answer(asked, session);
    } else {
      asked
          .look
          .places()
          .whenComplete(
              (places, failure) -> mailbox.execute(() -> answer(asked), "places of pages"));
    }
  }

  /** Answers a query, unless it has been answered. */
  private void answer(Asked asked) throws Exception {
    if (open.contains(asked)) {
      SessionContext session = sessions.load(asked.event.session());
      answer(asked, session);
      session.save();
    }
  }

  private void answer(Asked asked, SessionContext session) throws Exception {
    open.remove(asked);
    TierTokens tokens = asked.look.tokens();
    locations.found(session, asked.look);
    output.answer(
        asked.event,
        asked.items,
        tokens.state(asked.running).name().toLowerCase(Locale.ROOT),
        pages(asked.look, tokens));
  }

  private Reply.Pages pages(PageLocations.Look look, TierTokens tokens) {
    SessionPages known = look.known();
    long lastUsed = known == null ? 0 : known.lastUsed();
    long asOf = known == null ? 0 : known.asOf();
    return new Reply.Pages(
        look.committed(), tokens, lastUsed, look.answered() ? output.now() : asOf);
  }

  /**
   * Answers all open queries, because no query may wait across a barrier. Changes the current key.
   */
  public void answerAll() throws Exception {
    for (Asked asked : List.copyOf(open)) {
      answer(asked);
    }
  }

  /** Answers the open queries of a session before it ends. */
  void answerAll(SessionContext session) throws Exception {
    for (Asked asked : List.copyOf(open)) {
      if (asked.event.session().equals(session.id())) {
        answer(asked, session);
      }
    }
  }
}
