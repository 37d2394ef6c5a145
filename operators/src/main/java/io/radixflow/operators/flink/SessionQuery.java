package io.radixflow.operators.flink;

import io.radixflow.operators.session.ConversationEvent;
import io.radixflow.operators.session.Message;
import io.radixflow.operators.session.Reply;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import java.util.ArrayList;
import java.util.List;

/** Answers queries from a session's state, without changing it. */
final class SessionQuery {
  private final History history;
  private final TurnQueues queues;
  private final String engine;

  /**
   * @param engine the engine instance whose cache may hold a session
   */
  SessionQuery(History history, TurnQueues queues, String engine) {
    this.history = history;
    this.queues = queues;
    this.engine = engine;
  }

  /** The branch's system prompt and finished turns that are kept, oldest first. */
  List<Reply.Item> items(String branch, SessionSlot slot) throws Exception {
    if (!history.hasBranch(branch)) {
      throw new RefusedException("there is no branch '" + branch + "'");
    }
    List<Reply.Item> items = new ArrayList<>();
    if (slot.system() != null) {
      items.add(new Reply.Item(null, "system", slot.system(), null));
    }
    for (Turn turn : history.path(branch)) {
      for (Message message : turn.messages()) {
        items.add(new Reply.Item(turn.turn(), message.role(), message.content(), null));
      }
      items.add(new Reply.Item(turn.turn(), "assistant", turn.reply(), turn.finishReason()));
    }
    return items;
  }

  /**
   * {@code hot}: a turn runs or waits; {@code warm}: the engine served it last and may have its
   * pages; {@code gone}: only its tokens are left, the next turn prefills them; else {@code closed}
   * or {@code erased}.
   */
  String status(ConversationEvent event, SessionSlot slot) {
    return switch (slot.life()) {
      case CLOSED -> "closed";
      case ERASED -> "erased";
      case OPEN -> {
        if (queues.session(event.session()) != null) {
          yield "hot";
        }
        if (!slot.opened()) {
          yield "unknown";
        }
        yield engine.equals(slot.servedBy()) ? "warm" : "gone";
      }
    };
  }
}
