package io.radixflow.operators.flink;

import io.radixflow.operators.engine.EngineInfo;
import io.radixflow.operators.engine.EngineRequest;
import io.radixflow.operators.record.TierTokens;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.SharedSystemPrompt;
import io.radixflow.operators.tier.LocalTiers;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

/**
 * Keeps, in the current session's state, where its pages were when that was last known, and when
 * that was: written once when a turn ends, and when somebody has looked: a query, or one of the
 * {@link PageRounds}. Counts the session among the {@link IdleSessions} by it. The task's thread
 * alone calls it.
 */
final class PageHints {
  private final SessionState state;
  private final ServingEngine engine;
  private final TenantNamespaces namespaces;
  private final TurnQueues queues;
  private final IdleSessions idle;
  private final LongSupplier clock;

  /**
   * @param clock milliseconds since the epoch
   */
  PageHints(
      SessionState state,
      ServingEngine engine,
      TenantNamespaces namespaces,
      TurnQueues queues,
      IdleSessions idle,
      LongSupplier clock) {
    this.state = state;
    this.engine = engine;
    this.namespaces = namespaces;
    this.queues = queues;
    this.idle = idle;
    this.clock = clock;
  }

  /**
   * A turn has ended that was not in error: its whole pages are on the device.
   *
   * @return whether it has left any
   */
  boolean ended(RunningTurn turn) throws Exception {
    boolean stored = turn.pending.cache() == null || !turn.pending.cache().noStore();
    int tokens = turn.usage().completionTokens();
    if (turn.prompt() == null || tokens == 0 || !stored || !engine.engine().keepsPages()) {
      return false;
    }
    int committed = committed(turn.prompt().ids().length + tokens);
    long now = clock.getAsLong();
    state.putPages(
        new SessionPages(
            turn.pending.branch(),
            committed,
            new TierTokens(committed, 0, 0, 0),
            now,
            now,
            engine.engine().info().numericsEpoch(),
            home(),
            folder()));
    return true;
  }

  /**
   * Counts the current session as the state tells of it, unless it has turns.
   *
   * @param now whether that is of now, not of some time ago
   */
  void count(String session, SessionSlot slot, boolean now) throws Exception {
    boolean reachable = isFromHere(slot) || engine.tiers().enabled();
    SessionPages known = reachable && queues.session(session) == null ? state.pages() : null;
    if (known != null) {
      TierTokens places = expected(slot, known);
      idle.put(session, places, now ? evictedPages() : -1, now ? clock.getAsLong() : 0);
    }
  }

  /** Whether this process made the last reply. */
  private boolean isFromHere(SessionSlot slot) {
    return engine.instance().equals(slot.servedBy());
  }

  /** Sessions whose pages may have gone elsewhere since that was last known. */
  List<String> takeDue(int most) {
    return idle.takeDue(most, evictedPages(), clock.getAsLong());
  }

  private long evictedPages() {
    return engine.engine().stats().evictedPages();
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
    return new Look(committed, known, expected(slot, known), evictedPages(), places);
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
        isFromHere(slot), engine.engine().info().numericsEpoch(), home(), folder());
  }

  /**
   * What a look at the current session's pages has found, which is of no use if it failed, or if
   * somebody has known better since.
   */
  void found(String session, Look look) throws Exception {
    SessionPages known = look.known();
    if (known == null || !look.answered() || !known.equals(state.pages())) {
      return;
    }
    TierTokens tokens = look.tokens();
    long now = clock.getAsLong();
    state.putPages(known.found(tokens, now, home(), folder()));
    if (queues.session(session) == null) {
      idle.put(session, tokens, look.evictedPages(), now);
    }
  }

  /**
   * A look at where pages are.
   *
   * @param committed tokens that are looked for
   * @param known what the state said before; null for nothing
   * @param expected where they should be, should the engine not answer
   * @param evictedPages pages that the device had evicted before
   * @param places completes on any thread
   */
  record Look(
      int committed,
      SessionPages known,
      TierTokens expected,
      long evictedPages,
      CompletableFuture<TierTokens> places) {

    /** Whether the engine has answered. */
    boolean answered() {
      return places.isDone() && !places.isCompletedExceptionally();
    }

    /** Where they are, or should be if the engine has not answered. */
    TierTokens tokens() {
      return answered() ? places.join() : expected;
    }
  }
}
