package io.radixflow.operators.flink;

import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.operators.session.SessionSlot;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.streaming.api.operators.KeyContext;

/**
 * Looks, after each checkpoint, where the pages of a few sessions are by now, so that the state
 * tells which sessions have gone cold. Looks for none whose pages cannot have moved: while the
 * device evicts nothing, no history is read. The task's thread alone calls it.
 */
final class PageRounds {
  private static final int SESSIONS_A_ROUND = 16;

  private final KeyContext keys;
  private final SessionState state;
  private final History history;
  private final PageHints hints;
  private final MailboxExecutor mailbox;
  private boolean underWay;

  private record Asked(String session, PageHints.Look look) {}

  PageRounds(
      KeyContext keys,
      SessionState state,
      History history,
      PageHints hints,
      MailboxExecutor mailbox) {
    this.keys = keys;
    this.state = state;
    this.history = history;
    this.hints = hints;
    this.mailbox = mailbox;
  }

  /** Begins a round unless one is under way. Changes the current key. */
  void begin() throws Exception {
    if (underWay) {
      return;
    }
    List<Asked> asked = new ArrayList<>();
    for (String session : hints.takeDue(SESSIONS_A_ROUND)) {
      keys.setCurrentKey(session);
      SessionSlot slot = state.slot();
      SessionPages known = state.pages();
      if (slot != null && known != null) {
        String branch = known.branch();
        Conversation conversation = Conversation.of(history.system(slot), history.path(branch));
        asked.add(new Asked(session, hints.look(slot, branch, conversation)));
      }
    }
    if (asked.isEmpty()) {
      return;
    }
    underWay = true;
    CompletableFuture.allOf(
            asked.stream().map(each -> each.look.places()).toArray(CompletableFuture[]::new))
        .whenComplete((all, failure) -> mailbox.execute(() -> finish(asked), "places of sessions"));
  }

  private void finish(List<Asked> asked) throws Exception {
    underWay = false;
    for (Asked each : asked) {
      keys.setCurrentKey(each.session);
      hints.found(each.session, each.look);
    }
  }
}
