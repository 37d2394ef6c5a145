package io.radixflow.operators.flink;

import io.radixflow.operators.engine.EngineInfo;
import io.radixflow.operators.engine.EngineRequest;
import io.radixflow.operators.engine.TierTokens;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.SharedSystemPrompt;
import io.radixflow.operators.tier.LocalTiers;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

/**
 * Keeps, in the current session's state, where its pages were when that was last known: written
 * once when a turn ends, and when somebody looked and found them elsewhere: a query, or one of the
 * {@link PageRounds}. The task's thread alone calls it.
 */
final class PageHints {
  private final SessionState state;
  private final ServingEngine engine;
  private final TenantNamespaces namespaces;
  private final LongSupplier clock;

  /**
   * @param clock milliseconds since the epoch
   */
  PageHints(
      SessionState state, ServingEngine engine, TenantNamespaces namespaces, LongSupplier clock) {
    this.state = state;
    this.engine = engine;
    this.namespaces = namespaces;
    this.clock = clock;
  }

  /** A turn has ended that was not in error: its whole pages are on the device. */
  void ended(RunningTurn turn) throws Exception {
    boolean stored = turn.pending.cache() == null || !turn.pending.cache().noStore();
    int tokens = turn.usage().completionTokens();
    if (turn.prompt() == null || tokens == 0 || !stored || !engine.engine().keepsPages()) {
      return;
    }
    int committed = committed(turn.prompt().ids().length + tokens);
    state.putPages(
        new SessionPages(
            turn.pending.branch(),
            committed,
            new TierTokens(committed, 0, 0, 0),
            clock.getAsLong(),
            engine.engine().info().numericsEpoch(),
            home(),
            folder()));
  }

  /** The engine's home on disk, which events may attach while the job runs; null for none. */
  private String home() {
    LocalTiers local = engine.tiers().local();
    return local == null ? null : local.home().engine();
  }

  private String folder() {
    return engine.tiers().remoteFolder();
  }

  /** How many of a text's tokens lie in whole pages, if its last token was not computed. */
  private int committed(int tokens) {
    EngineInfo info = engine.engine().info();
    return Math.max(0, tokens - 1) / info.pageTokens() * info.pageTokens();
  }

  /**
   * Asks the engine where the pages of a branch of the current session are.
   *
   * @param conversation what the branch has
   */
  Look look(SessionSlot slot, String branch, Conversation conversation) throws Exception {
    SessionPages saved = state.pages();
    SessionPages known = saved == null || !saved.branch().equals(branch) ? null : saved;
    String tokenizer = engine.model().tokenizer().fingerprint();
    int[] ids = conversation.canonicalIds(tokenizer);
    int length = ids == null ? 0 : ids.length;
    int committed = known == null ? committed(length) : Math.min(known.committedTokens(), length);
    CompletableFuture<TierTokens> places =
        committed == 0
            ? CompletableFuture.completedFuture(TierTokens.NONE)
            : engine
                .engine()
                .locate(
                    namespaces.namespace(slot),
                    text(slot, conversation.system(), Arrays.copyOf(ids, committed)));
    return new Look(committed, known, expected(slot, known), places);
  }

  private EngineRequest.PromptSource text(SessionSlot slot, String system, int[] ids) {
    EngineRequest.PromptSource text = () -> ids;
    return namespaces.sharesSystemPrompt(slot)
        ? new SharedSystemPrompt(text, engine.model().chatTemplate(), system)
        : text;
  }

  private TierTokens expected(SessionSlot slot, SessionPages known) {
    if (known == null) {
      return TierTokens.NONE;
    }
    return known.expected(
        engine.instance().equals(slot.servedBy()),
        engine.engine().info().numericsEpoch(),
        home(),
        folder());
  }

  /** What a look has found; of no use if a turn of the current session has ended since. */
  void found(Look look, TierTokens tokens) throws Exception {
    SessionPages known = look.known();
    if (known != null && !known.tokens().equals(tokens) && known.equals(state.pages())) {
      state.putPages(known.found(tokens, home(), folder()));
    }
  }

  /**
   * A look at where pages are.
   *
   * @param committed tokens that are looked for
   * @param known what the state said before; null for nothing
   * @param expected where they should be, should the engine not answer
   * @param places completes on any thread
   */
  record Look(
      int committed,
      SessionPages known,
      TierTokens expected,
      CompletableFuture<TierTokens> places) {

    /** Where they are, or should be if the engine has not answered. */
    TierTokens tokens() {
      boolean answered = places.isDone() && !places.isCompletedExceptionally();
      return answered ? places.join() : expected;
    }
  }
}
