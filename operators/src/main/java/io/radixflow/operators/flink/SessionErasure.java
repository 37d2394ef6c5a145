package io.radixflow.operators.flink;

import io.radixflow.operators.cache.NamespaceKey;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Has the pages erased of what leaves a session's history, so that at any time the tiers below the
 * device have of a session what its history names, what its running turns compute, and what {@link
 * PageErasures} has yet to erase. What other engines had a part in, these erase, too. Every call
 * acts on the current key.
 */
final class SessionErasure {
  private final History history;
  private final TenantNamespaces namespaces;
  private final ServingEngine engine;
  private final PageErasures erasures;
  private final long attempt;

  /**
   * @param attempt epoch of the operator: turns that were accepted before may have run elsewhere
   */
  SessionErasure(
      History history,
      TenantNamespaces namespaces,
      ServingEngine engine,
      PageErasures erasures,
      long attempt) {
    this.attempt = attempt;
    this.history = history;
    this.namespaces = namespaces;
    this.engine = engine;
    this.erasures = erasures;
  }

  private boolean isNobodys(SessionSlot slot) {
    return slot == null || !slot.opened() || !engine.tiers().enabled();
  }

  /**
   * All of a session's branches are about to be forgotten.
   *
   * @param withTenant whether all pages of its tenant go, too
   * @param everywhere whether it matters even to engines that never had the session, as others that
   *     said the same may have left its pages there
   */
  void forget(SessionSlot slot, boolean withTenant, boolean everywhere) throws Exception {
    if (isNobodys(slot)) {
      return;
    }
    if (!withTenant || namespaces.namespace(slot).equals(NamespaceKey.PUBLIC)) {
      boolean wasElsewhere = slot.wasElsewhere(engine.instance());
      erase(slot, texts(slot), List.of(), everywhere || wasElsewhere);
    }
  }

  /** The token ids of all branches. */
  private List<int[]> texts(SessionSlot slot) throws Exception {
    String tokenizer = engine.model().tokenizer().fingerprint();
    List<int[]> texts = new ArrayList<>();
    String system = history.system(slot);
    for (List<Turn> path : history.paths()) {
      int[] ids = Conversation.of(system, path).canonicalIds(tokenizer);
      if (ids != null) {
        texts.add(ids);
      }
    }
    return texts;
  }

  /** A turn has ended of which nothing is remembered. */
  void dropped(SessionSlot slot, RunningTurn turn) throws Exception {
    Prompt prompt = turn.prompt();
    if (!isNobodys(slot) && prompt != null && turn.pending.kind() != EventKind.PREFETCH) {
      erase(slot, List.of(text(prompt, turn.tokens())), texts(slot), mayHaveRunElsewhere(turn));
    }
  }

  /** Whether another engine may have pages of a turn. */
  boolean mayHaveRunElsewhere(RunningTurn turn) {
    return turn.pending.accepted() < attempt;
  }

  /** Appends a turn that has ended to its branch. */
  void append(SessionSlot slot, RunningTurn turn, Turn remembered) throws Exception {
    String branch = turn.pending.branch();
    Prompt prompt = turn.prompt();
    boolean replaces =
        turn.pending.kind() == EventKind.REGENERATE
            || prompt.dropped() > turn.plan.conversation().dropped();
    if (isNobodys(slot)) {
      history.append(branch, remembered);
      return;
    }
    List<int[]> gone = new ArrayList<>(replaces ? texts(slot) : List.of());
    history.append(branch, remembered);
    int[] computed = text(prompt, turn.tokens());
    int[] kept = text(Arrays.copyOf(prompt.ids(), prompt.keep()), remembered.ids());
    if (Arrays.mismatch(computed, kept) >= 0 && !isBeginning(computed, kept)) {
      gone.add(computed);
    }
    if (!gone.isEmpty()) {
      erase(slot, gone, texts(slot), replaces || mayHaveRunElsewhere(turn));
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

  private void erase(SessionSlot slot, List<int[]> texts, List<int[]> kept, boolean everywhere)
      throws Exception {
    int pageTokens = engine.engine().info().pageTokens();
    SessionPageNames names =
        new SessionPageNames(
            namespaces.namespace(slot),
            namespaces.sharesSystemPrompt(slot) ? history.system(slot) : null,
            texts,
            kept);
    int most = names.most(pageTokens);
    if (most > 0) {
      erasures.add(names.task(engine.model(), pageTokens), most, everywhere);
    }
  }
}
