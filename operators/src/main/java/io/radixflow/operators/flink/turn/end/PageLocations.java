package io.radixflow.operators.flink.turn.end;

import io.radixflow.engine.EngineInfo;
import io.radixflow.engine.EngineRequest;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.prompt.SharedSystemPrompt;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.TenantNamespaces;
import io.radixflow.protocol.record.kv.TierTokens;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Stores the last known places of a session's pages in its slot, after a turn and after a query to
 * the engine. Only the task's thread uses it.
 */
public record PageLocations(ServingEngine engine, TenantNamespaces namespaces) {
  /** Notes that a turn has ended without an error: its whole pages are on the device. */
  void ended(SessionContext session, TurnResult turn) {
    boolean stored = turn.pending().cache() == null || !turn.pending().cache().noStore();
    int tokens = turn.usage().completionTokens();
    if (turn.prompt() == null || tokens == 0 || !stored || !engine.engine().keepsPages()) {
      return;
    }
    int committed = committed(turn.prompt().ids().length + tokens);
    long now = session.now();
    session.slot(
        session
            .slot()
            .located(
                new SessionPages(
                    turn.pending().branch(),
                    committed,
                    new TierTokens(committed, 0, 0, 0),
                    now,
                    now,
                    engine.engine().info().numericsEpoch(),
                    diskId(),
                    folder())));
  }

  /**
   * Returns a function from a slot to the expected tiers of its pages. It does not ask the engine,
   * and assumes that the disk stays attached or detached as it is now.
   */
  public Function<SessionSlot, TierTokens> expected() {
    String diskId = diskId();
    return slot -> expected(slot, slot.pages(), diskId);
  }

  private TierTokens expected(SessionSlot slot, SessionPages known, String diskId) {
    return known == null
        ? TierTokens.NONE
        : known.expected(
            engine.instance().equals(slot.servedBy()),
            engine.engine().info().numericsEpoch(),
            diskId,
            folder());
  }

  /** Returns the id of the engine's directory on a disk, which control events may attach. */
  private String diskId() {
    return engine.tiers().diskId();
  }

  private String folder() {
    return engine.tiers().remoteFolder();
  }

  /** Returns how many of a text's tokens are in whole pages if the last token was not computed. */
  private int committed(int tokens) {
    EngineInfo info = engine.engine().info();
    return Math.max(0, tokens - 1) / info.pageTokens() * info.pageTokens();
  }

  /**
   * Asks the engine where the pages of a branch are.
   *
   * @param conversation the contents of the branch
   */
  public Look look(SessionContext session, String branch, Conversation conversation) {
    SessionSlot slot = session.slot();
    SessionPages pages = slot.pages();
    SessionPages known = pages == null || !pages.branch().equals(branch) ? null : pages;
    int[] ids = conversation.canonicalIds(engine.model().tokenizer().fingerprint());
    int length = ids == null ? 0 : ids.length;
    int committed = known == null ? committed(length) : Math.min(known.committedTokens(), length);
    CompletableFuture<TierTokens> places =
        committed == 0
            ? CompletableFuture.completedFuture(TierTokens.NONE)
            : engine
                .engine()
                .locate(
                    slot.tenant(),
                    namespaces.namespace(slot),
                    text(slot, conversation.system(), Arrays.copyOf(ids, committed)));
    return new Look(committed, known, expected(slot, known, diskId()), places);
  }

  private EngineRequest.PromptSource text(SessionSlot slot, String system, int[] ids) {
    EngineRequest.PromptSource text = () -> ids;
    return system != null && namespaces.sharesSystemPrompt(slot)
        ? new SharedSystemPrompt(text, engine.model().chatTemplate(), system)
        : text;
  }

  /** Stores the result of a look-up, unless it failed or a newer result is known. */
  public void found(SessionContext session, Look look) {
    SessionPages known = look.known();
    if (known != null && look.answered() && known.equals(session.slot().pages())) {
      SessionPages found = known.found(look.tokens(), session.now(), diskId(), folder());
      session.slot(session.slot().located(found));
    }
  }

  /**
   * A look-up of the places of pages.
   *
   * @param committed number of tokens to look up
   * @param known the places in the state before; null for none
   * @param expected the places to assume if the engine does not answer
   * @param places completes on any thread
   */
  public record Look(
      int committed,
      SessionPages known,
      TierTokens expected,
      CompletableFuture<TierTokens> places) {

    /** Returns whether the engine has answered. */
    public boolean answered() {
      return places.isDone() && !places.isCompletedExceptionally();
    }

    /** Returns the places of the pages; the expected places if the engine has not answered. */
    public TierTokens tokens() {
      return answered() ? places.join() : expected;
    }
  }
}
