package io.radixflow.operators.flink.turn.end;

import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.prompt.CanonicalReply;
import io.radixflow.operators.session.ConversationHash;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import io.radixflow.operators.session.TurnDetails;
import io.radixflow.operators.session.TurnPlan;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.text.template.Message;
import java.util.Arrays;

/**
 * Writes the results of an ended turn to its session: its entry in the history, the engine that ran
 * it, and the places of its pages. Erases the pages of text that is not remembered. Only the task's
 * thread uses it.
 */
public final class SessionHistoryWriter {
  private final ServingEngine engine;
  private final PageLocations locations;
  private final SessionErasure erasure;
  private final ConversationIndex index;
  private final CanonicalReply canonical;

  public SessionHistoryWriter(
      ServingEngine engine,
      PageLocations locations,
      SessionErasure erasure,
      ConversationIndex index) {
    this.engine = engine;
    this.locations = locations;
    this.erasure = erasure;
    this.index = index;
    this.canonical = new CanonicalReply(engine.model());
  }

  /**
   * Writes the end of a turn that the engine worked on.
   *
   * @param error why the turn failed, or null
   * @param remember whether the shown text may become part of the history
   * @param ran whether this engine worked on the turn
   */
  public void ended(
      SessionContext session,
      TurnResult turn,
      FinishReason reason,
      ReplyError error,
      boolean remember,
      boolean ran)
      throws Exception {
    if (remember && isRemembered(turn, reason)) {
      Turn remembered = remembered(turn, reason);
      erasure.replaced(
          session,
          turn,
          remembered,
          () -> session.history().append(turn.pending().branch(), remembered));
      index.remembered(session, turn.plan().conversation().path(), remembered);
    } else {
      erasure.dropped(session, turn);
      if (remember) {
        session.addEndedTurn(
            EndedTurns.ended(turn.pending(), turn.endedMillis(), "", reason, turn.usage(), error)
                .with(turn.parts().message(), turn.parts().order()));
      }
    }
    session.removePending(turn.pending().id(), turn.isSaved());
    SessionSlot slot = session.slot();
    if (ran && !engine.instance().equals(slot.servedBy())) {
      session.slot(slot.served(engine.instance(), erasure.mayHaveRunElsewhere(turn)));
    }
    if (reason != FinishReason.ERROR && reason != FinishReason.REJECTED) {
      locations.ended(session, turn);
    }
  }

  /**
   * Returns whether the engine has at least one more whole page of a turn.
   *
   * @param known how many of the turn's tokens were known before
   */
  public boolean hasMorePages(TurnResult turn, int known) {
    int prompt = turn.prompt() == null ? 0 : turn.prompt().ids().length;
    int pageTokens = engine.engine().info().pageTokens();
    int now = turn.usage().completionTokens();
    return (prompt + now) / pageTokens > (prompt + known) / pageTokens;
  }

  /**
   * Erases the pages that the engine computed for a turn after the turn had ended in its session.
   */
  public void computedMore(SessionContext session, TurnResult turn) throws Exception {
    erasure.dropped(session, turn);
  }

  /**
   * Returns whether the history keeps a reply. It keeps complete replies, and the shown part of a
   * cancelled message, because the user has read it.
   */
  private static boolean isRemembered(TurnResult turn, FinishReason reason) {
    return switch (reason) {
      case STOP, LENGTH, TOOL_CALLS -> turn.prompt() != null;
      case CANCELLED -> turn.pending().kind() == EventKind.MESSAGE && turn.parts().codePoints() > 0;
      case REPLACED, REJECTED, ERROR -> false;
    };
  }

  private Turn remembered(TurnResult turn, FinishReason reason) {
    TurnPlan plan = turn.plan();
    Prompt prompt = canonical(turn);
    Message reply = turn.parts().whole();
    String said = ConversationHash.with(plan.parent().hash(), plan.messages());
    return new Turn(
        turn.pending().id(),
        plan.parent().turn(),
        plan.conversation().depth(),
        plan.turn(),
        turn.pending().turn(),
        plan.messages(),
        plan.given(),
        plan.regeneration(),
        reply,
        turn.finish(reason),
        new TurnDetails(
            turn.pending().branch(),
            turn.pending().accepted(),
            turn.endedMillis(),
            turn.stopReason(),
            turn.usage(),
            turn.pending().metadata(),
            turn.parts().wholeOrder(),
            turn.parts().begun()),
        prompt.keep(),
        prompt.ids(),
        prompt.tokenizer(),
        plan.options().prompt().identity(),
        prompt.dropped(),
        plan.parent().root(),
        ConversationHash.with(said, reply),
        false);
  }

  /**
   * Returns a turn's prompt with the ids that follow the kept ids in later prompts, including the
   * reply's ids. If the reply was begun by a model with another tokenizer and not continued, there
   * are no ids: it is not known how the reply ends in a prompt, so later prompts encode its text.
   */
  private Prompt canonical(TurnResult turn) {
    Prompt prompt = turn.prompt();
    if (!prompt.isOf(engine.model().tokenizer().fingerprint())) {
      return new Prompt(new int[0], 0, prompt.dropped(), "");
    }
    boolean raw = Message.isPrompt(turn.plan().messages());
    int[] generated =
        raw ? turn.tokens() : canonical.ids(turn.tokens(), turn.text(), turn.parts().calls());
    int added = prompt.ids().length - prompt.keep();
    int[] ids =
        Arrays.copyOfRange(prompt.ids(), prompt.keep(), prompt.ids().length + generated.length);
    System.arraycopy(generated, 0, ids, added, generated.length);
    return new Prompt(ids, prompt.keep(), prompt.dropped(), prompt.tokenizer());
  }
}
