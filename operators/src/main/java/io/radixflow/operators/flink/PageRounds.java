package io.radixflow.operators.flink;

import io.radixflow.operators.engine.TierTokens;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.operators.session.SessionSlot;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.streaming.api.operators.KeyContext;

/**
 * Looks, after each checkpoint, where the pages of a few sessions are by now, so that the state
 * tells which sessions have gone cold. A session has its turn some time after its own turns, and
 * again as long as device or host memory have pages of it. The task's thread alone calls it.
 */
final class PageRounds {
  private static final int SESSIONS_A_ROUND = 16;

  /** Sessions that are remembered; of more, those whose turns ended first are not looked for. */
  private static final int MOST = 100_000;

  private final KeyContext keys;
  private final SessionState state;
  private final History history;
  private final PageHints hints;
  private final MailboxExecutor mailbox;
  private final Set<String> due = new LinkedHashSet<>();
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

  /** A turn has ended that left pages. */
  void ended(String session) {
    due.remove(session);
    due.add(session);
    if (due.size() > MOST) {
      due.remove(due.iterator().next());
    }
  }

  /** Begins a round unless one is under way. Changes the current key. */
  void begin() throws Exception {
    if (underWay || due.isEmpty()) {
      return;
    }
    List<Asked> asked = new ArrayList<>();
    Iterator<String> sessions = due.iterator();
    for (int i = 0; i < SESSIONS_A_ROUND && sessions.hasNext(); i++) {
      String session = sessions.next();
      sessions.remove();
      keys.setCurrentKey(session);
      SessionSlot slot = state.slot();
      SessionPages known = state.pages();
      if (slot != null && known != null) {
        String branch = known.branch();
        Conversation conversation = Conversation.of(history.system(slot), history.path(branch));
        asked.add(new Asked(session, hints.look(slot, branch, conversation)));
      }
    }
    underWay = true;
    CompletableFuture.allOf(
            asked.stream().map(each -> each.look.places()).toArray(CompletableFuture[]::new))
        .whenComplete((all, failure) -> mailbox.execute(() -> finish(asked), "places of sessions"));
  }

  private void finish(List<Asked> asked) throws Exception {
    underWay = false;
    for (Asked each : asked) {
      if (each.look.places().isCompletedExceptionally()) {
        continue;
      }
      keys.setCurrentKey(each.session);
      TierTokens tokens = each.look.tokens();
      hints.found(each.look, tokens);
      if (tokens.device() + tokens.host() > 0) {
        due.add(each.session);
      }
    }
  }
}
