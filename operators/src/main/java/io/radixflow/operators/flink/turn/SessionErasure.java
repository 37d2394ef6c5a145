package io.radixflow.operators.flink.turn;

import io.radixflow.operators.NamespaceKey;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.erasure.PageErasures;
import io.radixflow.operators.flink.erasure.SessionPageNames;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.TenantNamespaces;
import io.radixflow.operators.session.Turn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.util.function.RunnableWithException;

/**
 * Has the pages erased of what leaves a session's history, so that at any time the tiers below the
 * device have of a session what its history names, what its running turns compute, and what {@link
 * PageErasures} has yet to erase. What other engines had a part in, these erase, too. Every call
 * acts on the current key.
 */
public final class SessionErasure {
  private final TenantNamespaces namespaces;
  private final ServingEngine engine;
  private final PageErasures erasures;
  private final long attempt;

  /**
   * @param attempt epoch of the operator: turns that were accepted before may have run elsewhere
   */
  public SessionErasure(
      TenantNamespaces namespaces, ServingEngine engine, PageErasures erasures, long attempt) {
    this.attempt = attempt;
    this.namespaces = namespaces;
    this.engine = engine;
    this.erasures = erasures;
  }

  private boolean hasPages(SessionContext session) {
    return session.slot().opened() && engine.tiers().enabled();
  }

  /**
   * Erases the pages of all branches, which are about to be removed from the history.
   *
   * @param withTenant whether all pages of its tenant go, too
   * @param everywhere whether it matters even to engines that never had the session, as others that
   *     said the same may have left its pages there
   */
  void forget(SessionContext session, boolean withTenant, boolean everywhere) throws Exception {
    SessionSlot slot = session.slot();
    if (hasPages(session)
        && (!withTenant || namespaces.namespace(slot).equals(NamespaceKey.PUBLIC))) {
      boolean wasElsewhere = slot.wasElsewhere(engine.instance());
      erase(session, texts(session), List.of(), everywhere || wasElsewhere);
    }
  }

  /** Returns the token ids of all branches. */
  private List<int[]> texts(SessionContext session) throws Exception {
    String tokenizer = engine.model().tokenizer().fingerprint();
    List<int[]> texts = new ArrayList<>();
    String system = session.system();
    for (List<Turn> path : session.history().paths()) {
      int[] ids = Conversation.of(system, path).canonicalIds(tokenizer);
      if (ids != null) {
        texts.add(ids);
      }
    }
    return texts;
  }

  /** Erases the pages of a turn that has ended and is not remembered. */
  void dropped(SessionContext session, RunningTurn turn) throws Exception {
    Prompt prompt = turn.prompt();
    if (hasPages(session) && prompt != null) {
      erase(
          session, List.of(text(prompt, turn.tokens())), texts(session), mayHaveRunElsewhere(turn));
    }
  }

  /** Whether another engine may have pages of a turn. */
  boolean mayHaveRunElsewhere(RunningTurn turn) {
    return turn.pending.accepted() < attempt;
  }

  /**
   * Erases what leaves the history of a session when a turn is appended, and what the turn computed
   * that is not part of the history.
   *
   * @param append appends it
   */
  void replaced(
      SessionContext session, RunningTurn turn, Turn remembered, RunnableWithException append)
      throws Exception {
    if (!hasPages(session)) {
      append.run();
      return;
    }
    Prompt prompt = turn.prompt();
    boolean replaces =
        turn.pending.kind() == EventKind.REGENERATE
            || prompt.dropped() > turn.plan.conversation().dropped();
    List<int[]> gone = new ArrayList<>(replaces ? texts(session) : List.of());
    append.run();
    int[] computed = text(prompt, turn.tokens());
    int[] kept = text(Arrays.copyOf(prompt.ids(), prompt.keep()), remembered.ids());
    if (Arrays.mismatch(computed, kept) >= 0 && !isBeginning(computed, kept)) {
      gone.add(computed);
    }
    if (!gone.isEmpty()) {
      erase(session, gone, texts(session), replaces || mayHaveRunElsewhere(turn));
    }
  }

  private static boolean isBeginning(int[] computed, int[] kept) {
    return Arrays.mismatch(computed, kept) == computed.length;
  }

  private static int[] text(Prompt prompt, int[] tokens) {
    return text(prompt.ids(), tokens);
  }

  private static int[] text(int[] first, int[] second) {
    int[] all = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }

  private void erase(
      SessionContext session, List<int[]> texts, List<int[]> kept, boolean everywhere)
      throws Exception {
    SessionSlot slot = session.slot();
    int pageTokens = engine.engine().info().pageTokens();
    SessionPageNames names =
        new SessionPageNames(
            namespaces.namespace(slot),
            namespaces.sharesSystemPrompt(slot) ? session.system() : null,
            texts,
            kept);
    int most = names.most(pageTokens);
    if (most > 0) {
      erasures.add(names.task(engine.model(), pageTokens), most, everywhere);
    }
  }
}
