package io.radixflow.operators.flink.turn.run;

import io.radixflow.operators.flink.recovery.UnconfirmedReplies;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.prompt.ReplyParts;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.RejectedEvent;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyBuilder;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.TraceContext;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.reply.PartKind;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;

/**
 * Makes and emits the operator's records: replies, their pieces, and refused events. The key of a
 * reply's session must be current.
 */
public final class ReplyOutput {
  /**
   * The side output of pieces of running replies, each at least once. The pieces of one engine step
   * are one record, so that the next task wakes up once.
   */
  public static final OutputTag<List<ReplyDelta>> DELTAS =
      new OutputTag<>("reply-deltas", Types.LIST(TypeInformation.of(ReplyDelta.class)));

  /** The side output of refused events without a turn id, which cannot get a reply. */
  public static final OutputTag<RejectedEvent> REJECTED =
      new OutputTag<>("rejected-events", TypeInformation.of(RejectedEvent.class));

  private final Output<StreamRecord<Reply>> output;
  private final UnconfirmedReplies unconfirmed;
  private final ServingMetrics metrics;
  private final LongSupplier clock;
  private final long attempt;

  /** The deltas of the step that is being read, or null between steps. */
  private List<ReplyDelta> step;

  /**
   * @param clock milliseconds since the epoch
   * @param attempt epoch of the operator
   */
  public ReplyOutput(
      Output<StreamRecord<Reply>> output,
      UnconfirmedReplies unconfirmed,
      ServingMetrics metrics,
      LongSupplier clock,
      long attempt) {
    this.output = output;
    this.unconfirmed = unconfirmed;
    this.metrics = metrics;
    this.clock = clock;
    this.attempt = attempt;
  }

  /** Returns the time in milliseconds since the epoch. */
  public long now() {
    return clock.getAsLong();
  }

  /** Returns the milliseconds since a turn was accepted; 0 if the clock was set back meanwhile. */
  long since(PendingTurn turn) {
    return Math.max(0, now() - turn.accepted());
  }

  /** Begins a step: deltas are collected until {@link #endStep}, in the same mail. */
  void beginStep() {
    if (step == null) {
      step = new ArrayList<>();
    }
  }

  /** Emits the deltas of the step that was read, if there are any. */
  void endStep() {
    List<ReplyDelta> deltas = step;
    step = null;
    if (deltas != null && !deltas.isEmpty()) {
      output.collect(DELTAS, new StreamRecord<>(deltas));
    }
  }

  /** Emits the new pieces of a running reply. */
  void deltas(RunningTurn turn) {
    if (turn.takePromptDone()) {
      collect(delta(turn, empty(turn), null, turn.usage(), null));
    }
    if (turn.parts().hasNew()) {
      showPrompt(turn);
    }
    for (ReplyParts.Piece piece : turn.parts().take()) {
      collect(delta(turn, piece, null, turn.firstCounts(), null));
      turn.markShown();
    }
  }

  private void showPrompt(RunningTurn turn) {
    for (PromptTokens piece : turn.takePrompt()) {
      collect(
          new ReplyDelta(
              turn.branch.session.id,
              turn.pending().branch(),
              turn.pending().turn(),
              0,
              0,
              0,
              0,
              attempt,
              "",
              null,
              -1,
              null,
              null,
              null,
              0,
              Usage.NONE,
              null,
              null,
              trace(turn.pending().origin()),
              null,
              null,
              null,
              piece,
              null,
              null));
    }
  }

  /** Emits the last pieces and the reply of a turn that the engine worked on. */
  void end(SessionContext session, RunningTurn turn, FinishReason reason, ReplyError error)
      throws Exception {
    if (reason == FinishReason.ERROR) {
      deadLetter(session, turn.pending(), error.message());
    }
    turn.endedAt(now());
    ReplyParts parts = turn.parts();
    if (reason != FinishReason.CANCELLED && reason != FinishReason.REPLACED) {
      // text that may become a call is dropped from a cancelled reply: after a failure the reply
      // may end later, with a call
      parts.finish(reason != FinishReason.STOP || turn.stopReason() != null);
    }
    String finish = turn.finish(reason);
    Usage usage = turn.usage();
    metrics.generated(usage);
    metrics.rewritten(turn.prompt() == null ? 0 : turn.prompt().rewritten());
    showPrompt(turn);
    List<ReplyParts.Piece> pieces = parts.take();
    ReplyParts.Piece last = pieces.isEmpty() ? empty(turn) : pieces.remove(pieces.size() - 1);
    for (ReplyParts.Piece piece : pieces) {
      collect(delta(turn, piece, null, turn.firstCounts(), null));
      turn.markShown();
    }
    collect(delta(turn, last, finish, usage, error));
    boolean logprobs = turn.plan().options().sampling().topLogprobs() >= 0;
    PendingTurn event = turn.pending();
    collect(
        reply(session.id(), event.branch(), event.turn(), event.kind())
            .message(parts.message())
            .order(parts.order())
            .finishReason(finish)
            .stopReason(turn.stopReason())
            .created(turn.endedMillis())
            .usage(usage)
            .seed(turn.plan().options().sampling().seed())
            .droppedTurns(turn.prompt() == null ? 0 : turn.prompt().dropped())
            .logprobs(logprobs ? turn.logprobs() : null)
            .stopToken(turn.stopToken())
            .tokenIds(turn.tokenIds(0))
            .prompt(turn.promptTokens())
            .warnings(turn.warnings())
            .error(error)
            .metadata(event.metadata())
            .trace(trace(event.origin()))
            .build());
    TurnLog.ended(turn, finish, usage, turn.endedMillis());
  }

  /** Emits the reply of a turn that ends without the engine; nothing if it has no id. */
  void end(
      SessionContext session,
      TurnQueues.Entry turn,
      FinishReason reason,
      String text,
      ReplyError error)
      throws Exception {
    PendingTurn pending = session.pending(turn.id());
    TurnLog.ended(session.id(), session.slot().tenant(), pending, reason.wireName(), now());
    if (turn.turn() != null) {
      collectAtOnce(
          reply(session.id(), turn.branch(), turn.turn(), turn.kind())
              .text(text)
              .finishReason(reason.wireName())
              .error(error)
              .metadata(pending.metadata())
              .trace(trace(pending.origin()))
              .build());
    }
  }

  /** Emits the reply to an event that is completed immediately; nothing if it has no id. */
  public void done(ConversationEvent event) throws Exception {
    if (event.turn() != null) {
      collectAtOnce(reply(event).build());
    }
  }

  /** Emits the reply to an event that was cancelled before it was accepted. */
  public void cancelled(ConversationEvent event) throws Exception {
    collectAtOnce(reply(event).finishReason(FinishReason.CANCELLED.wireName()).build());
    TurnLog.ended(event, FinishReason.CANCELLED.wireName());
  }

  /** Emits the reply to a query. */
  public void answer(
      ConversationEvent event, List<Reply.Item> items, String status, Reply.Pages pages)
      throws Exception {
    collectAtOnce(reply(event).items(items).status(status).pages(pages).build());
  }

  /** Emits the reply to a query that asks about one turn. */
  public void answer(ConversationEvent event, Reply.TurnState turn) throws Exception {
    collectAtOnce(reply(event).turnState(turn).build());
  }

  /** Refuses an event: a rejected reply, or a side output if the event names no turn. */
  public void rejected(ConversationEvent event, ReplyError error) throws Exception {
    metrics.rejected();
    if (event.kind() == EventKind.MESSAGE || event.kind() == EventKind.REGENERATE) {
      TurnLog.ended(event, FinishReason.REJECTED.wireName());
    }
    if (event.turn() == null || event.kind() == EventKind.CANCEL) {
      collect(new RejectedEvent(event, error.message()));
    } else {
      collectAtOnce(
          reply(event).finishReason(FinishReason.REJECTED.wireName()).error(error).build());
    }
  }

  /** Counts an accepted turn that cannot start; without an id its event becomes a dead letter. */
  void refused(SessionContext session, PendingTurn turn, String reason) {
    metrics.rejected();
    if (turn.turn() == null) {
      deadLetter(session, turn, reason);
    }
  }

  /**
   * Emits the event of an accepted turn as a dead letter, because it failed or has no id for a
   * reply.
   */
  private void deadLetter(SessionContext session, PendingTurn turn, String reason) {
    ConversationEvent event =
        ConversationEvent.builder(turn.kind(), session.id(), turn.turn())
            .branch(turn.branch())
            .tenant(session.slot().tenant())
            .cacheSalt(session.slot().cacheSalt())
            .messages(turn.messages())
            .options(turn.options())
            .newBranch(turn.newBranch())
            .atTurn(turn.atTurn())
            .origin(turn.origin())
            .metadata(turn.metadata())
            .cache(turn.cache())
            .build();
    collect(new RejectedEvent(event, reason));
  }

  private ReplyBuilder reply(ConversationEvent event) {
    return reply(event.session(), event.branch(), event.turn(), event.kind())
        .metadata(event.metadata())
        .trace(trace(event.origin()));
  }

  private static TraceContext trace(Origin origin) {
    return origin == null ? null : origin.trace();
  }

  private ReplyBuilder reply(String session, String branch, String turn, EventKind kind) {
    return Reply.builder(session, branch, turn, kind).attempt(attempt).created(clock.getAsLong());
  }

  private static ReplyParts.Piece empty(RunningTurn turn) {
    return new ReplyParts.Piece(PartKind.CONTENT, -1, turn.parts().codePoints(), "");
  }

  private ReplyDelta delta(
      RunningTurn turn, ReplyParts.Piece piece, String finish, Usage usage, ReplyError error) {
    return new ReplyDelta(
        turn.branch.session.id,
        turn.pending().branch(),
        turn.pending().turn(),
        0,
        piece.offset(),
        turn.shownTokens(),
        turn.unshownTokens(),
        attempt,
        piece.text(),
        ReplyParts.kind(piece.kind()),
        piece.index(),
        piece.index() < 0 ? null : turn.parts().callId(piece.index()),
        finish,
        finish == null ? null : turn.stopReason(),
        finish == null ? 0 : turn.endedMillis(),
        usage,
        error,
        turn.newLogprobs(),
        trace(turn.pending().origin()),
        null,
        finish == null ? null : turn.stopToken(),
        turn.tokenIds(turn.shownTokens()),
        null,
        finish == null ? null : turn.warnings(),
        usage.equals(Usage.NONE)
            ? null
            : turn.timing(since(turn.pending()), FinishReason.LENGTH.wireName().equals(finish)));
  }

  /**
   * Emits a reply that the engine did not generate, and a delta with the reply, which consumers see
   * before the next checkpoint.
   */
  private void collectAtOnce(Reply reply) throws Exception {
    collect(ReplyDelta.last(reply));
    collect(reply);
  }

  private void collect(Reply reply) throws Exception {
    unconfirmed.emitted(reply);
    metrics.replied(reply.finishReason());
    output.collect(new StreamRecord<>(reply));
  }

  private void collect(RejectedEvent event) {
    output.collect(REJECTED, new StreamRecord<>(event));
  }

  private void collect(ReplyDelta delta) {
    if (step != null) {
      step.add(delta);
    } else {
      output.collect(DELTAS, new StreamRecord<>(List.of(delta)));
    }
  }
}
