package io.radixflow.gateway.turn;

import io.radixflow.client.TurnPart;
import io.radixflow.gateway.turn.TurnFailure.Reason;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;
import java.util.ArrayList;
import java.util.List;

/**
 * Joins the deltas of one turn into pieces without gap or overlap, and passes them to the
 * listener's executor. Each piece belongs to one part of the reply. Deltas come at least once, and
 * from several attempts. Pieces that wait for a listener are joined into one, and their size is
 * limited.
 */
final class TurnFollower implements TurnStream, TurnWaiter {

  /** The creator of a follower. */
  interface Owner {
    /** Called once when the follower is done; {@code cancel} says whether to cancel the turn. */
    void finished(TurnFollower follower, boolean cancel);

    /** Asks the job for the state of the turn, unless an earlier question is still open. */
    void ask(TurnFollower follower);

    /** Returns the counter of the text that waits for all listeners. */
    WaitingText waiting();
  }

  private enum State {
    /** It is unknown whether the turn belongs to this request. */
    UNSURE,
    /** Records of the turn are accepted. */
    FOLLOWING,
    /**
     * All remaining output for the listener is waiting: the end or the failure, and pieces before
     * it.
     */
    OVER,
    /** The listener has got its last call, or needs no more calls. */
    DONE
  }

  /**
   * A turn fails after more interruptions than this. Restarting brokers cause fewer; after each
   * interruption the follower asks the job.
   */
  private static final int MAX_INTERRUPTIONS = 20;

  private final TurnKey key;
  private final String stamp;
  private final Following following;
  private final TurnListener listener;
  private final Owner owner;

  private final TurnMetrics.Clock clock;
  private final WaitingPieces waiting;
  private final WaitingText.Part text;

  private TurnFound found;

  /** The first token counts; null until they are known. The listener gets them once. */
  private Usage counts;

  /** Whether the listener has its first piece. */
  private boolean started;

  /** Deltas with the progress of the prompt that the listener has not got yet. */
  private final List<ReplyDelta> progress = new ArrayList<>();

  /** The most tokens of the prompt that {@link #progress} has shown. */
  private int promptDone = -1;

  /** The timing of the last delta; null if unknown. */
  private TurnTiming timing;

  private TurnEnd end;
  private TurnFailure failure;
  private boolean asking;

  /** Number of interruptions since the job's last answer. */
  private int interruptions;

  private boolean scheduled;
  private boolean paused;
  private State state;

  /**
   * @param stamp stamp of the request if another request may have started the turn, else null
   * @param offset how many code points of the reply the listener already has
   */
  TurnFollower(
      TurnKey key,
      String stamp,
      int offset,
      Following following,
      TurnListener listener,
      TurnMetrics metrics,
      Owner owner) {
    this.key = key;
    this.stamp = stamp;
    this.state = stamp == null ? State.FOLLOWING : State.UNSURE;
    this.waiting = new WaitingPieces(offset);
    this.following = following;
    this.listener = listener;
    this.clock = metrics.clock();
    this.text = owner.waiting().part(following.buffer());
    this.owner = owner;
  }

  @Override
  public TurnKey key() {
    return key;
  }

  @Override
  public boolean needsReply() {
    return following.committed();
  }

  /**
   * Adds the new part of a delta. A delta after a gap is skipped, and the job is asked for the
   * state of the turn. Until the job says whether the turn belongs to this request, deltas are
   * ignored, except a rejection.
   */
  @Override
  public void delta(ReplyDelta delta) {
    boolean gap;
    synchronized (this) {
      if (isOver() || state == State.UNSURE && !"rejected".equals(delta.finishReason())) {
        return;
      }
      gap = !waiting.joins(delta.offset());
      if (!gap) {
        TurnPart part = new TurnPart(delta.kind(), delta.index(), delta.id());
        count(delta.usage());
        takeProgress(delta);
        clock.took(waiting.take(delta.offset(), part, delta.text()));
        waiting.takePrompt(delta.prompt());
        waiting.takeTokens(delta.tokenOffset(), delta.tokens(), delta.logprobs(), delta.tokenIds());
        bound();
      }
      if (!gap && delta.finishReason() != null) {
        timing = delta.timing();
        if (!following.committed()) {
          end(TurnEnd.of(delta, false));
        }
      }
    }
    if (gap) {
      owner.ask(this);
    } else {
      schedule();
    }
  }

  /** Keeps the progress of a delta. A paused listener gets only the last progress. */
  private void takeProgress(ReplyDelta delta) {
    TurnTiming shown = delta.timing();
    if (shown == null || started || delta.error() != null || shown.promptDone() <= promptDone) {
      return;
    }
    if (paused) {
      progress.clear();
    }
    promptDone = shown.promptDone();
    progress.add(delta);
  }

  /** Returns whether to ask the job now; only one question is open at a time. */
  synchronized boolean beginToAsk() {
    boolean begin = !asking && state != State.DONE;
    asking = true;
    return begin;
  }

  /**
   * Called with the job's state of the turn.
   *
   * @param committed whether the state is committed, because the job's answer is committed
   */
  void state(Reply.TurnState turn, boolean committed) {
    synchronized (this) {
      asking = false;
      interruptions = 0;
      if (isOver()) {
        return;
      }
      if (state == State.UNSURE) {
        state = State.FOLLOWING;
        if (RequestStamp.differs(stamp, turn.metadata())) {
          fail(Reason.KEY_REUSED, "the idempotency key was used for another request before");
        } else if (!"rejected".equals(turn.finishReason())) {
          found = new TurnFound(turn.turn(), turn.status(), turn.metadata());
        }
      }
      count(turn.usage());
      clock.took(waiting.take(turn.reply(), turn.order()));
      if (turn.logprobs() != null) {
        waiting.takeTokens(0, turn.logprobs().size(), turn.logprobs(), null);
      }
      bound();
      boolean over = turn.status().equals("done");
      if (over && (committed || !following.committed())) {
        end(TurnEnd.of(turn));
      }
    }
    schedule();
  }

  /** Called when the job does not know the turn. */
  void refused(ReplyDelta answer) {
    synchronized (this) {
      asking = false;
      if (isOver()) {
        return;
      }
      end(TurnEnd.of(answer, true));
    }
    schedule();
  }

  /** Called with the committed reply. */
  @Override
  public void reply(Reply reply) {
    synchronized (this) {
      if (isOver() || state == State.UNSURE) {
        return;
      }
      count(reply.usage());
      waiting.takePrompt(reply.prompt());
      clock.took(waiting.take(reply.message(), reply.order()));
      waiting.takeTokens(0, reply.usage().completionTokens(), reply.logprobs(), reply.tokenIds());
      bound();
      end(TurnEnd.of(reply, timing));
    }
    schedule();
  }

  @Override
  public void interrupted() {
    boolean often;
    synchronized (this) {
      asking = false;
      often = ++interruptions > MAX_INTERRUPTIONS;
    }
    if (often) {
      fail(new TurnException("the job's answer about the turn cannot be read: try again", null));
    } else {
      owner.ask(this);
    }
  }

  @Override
  public void fail(TurnException cause) {
    failAndSchedule(Reason.UNAVAILABLE, cause.getMessage());
  }

  /** Ends the turn before its event is sent. */
  void refuse(String why) {
    failAndSchedule(Reason.BUSY, why);
  }

  private void failAndSchedule(Reason reason, String message) {
    synchronized (this) {
      if (state == State.DONE || failure != null) {
        return;
      }
      fail(reason, message);
    }
    schedule();
  }

  private void fail(Reason reason, String message) {
    failure = new TurnFailure(reason, message);
    state = State.OVER;
  }

  private void end(TurnEnd last) {
    end = last;
    state = State.OVER;
  }

  private boolean isOver() {
    return state.compareTo(State.OVER) >= 0;
  }

  /** Cuts off the listener if too much text waits for it, and frees this text. */
  private void bound() {
    int now = waiting.characters();
    if (text.exceeds(now) && (paused || scheduled) && failure == null) {
      clock.cutOff();
      fail(
          Reason.TOO_SLOW,
          "the client reads its stream more slowly than it comes, and was cut off after "
              + now
              + " characters had waited; the turn continues and can be resumed");
      release();
    }
  }

  /** Frees the waiting text. */
  private void release() {
    waiting.clear();
    text.release();
  }

  private void count(Usage usage) {
    if (counts == null && usage != null && !usage.equals(Usage.NONE)) {
      counts = usage;
    }
  }

  private void schedule() {
    synchronized (this) {
      if (scheduled || state == State.DONE || paused && failure == null) {
        return;
      }
      scheduled = true;
    }
    try {
      following.executor().execute(this::deliver);
    } catch (RuntimeException | Error e) {
      synchronized (this) {
        scheduled = false;
      }
      throw e;
    }
  }

  /** Passes the waiting pieces to the listener. Runs on the listener's executor. */
  private void deliver() {
    TurnFound first;
    Usage begun = null;
    List<ReplyDelta> prompt = List.of();
    List<TurnPiece> pieces = List.of();
    boolean firstPiece = false;
    TurnEnd ended;
    TurnFailure failed;
    synchronized (this) {
      scheduled = false;
      if (state == State.DONE || paused && failure == null) {
        return;
      }
      first = found;
      found = null;
      failed = failure;
      if (failed == null && !progress.isEmpty()) {
        prompt = List.copyOf(progress);
        progress.clear();
      }
      ended = failed == null ? end : null;
      if (failed == null && !waiting.isEmpty()) {
        pieces = waiting.remove();
        release();
        firstPiece = !started;
        begun = firstPiece ? counts : null;
        started = true;
      }
      if (failed != null) {
        release();
      }
      if (state == State.OVER) {
        state = State.DONE;
      }
    }
    if (ended != null || failed != null) {
      owner.finished(this, false);
    }
    if (first != null) {
      listener.found(first);
    }
    if (firstPiece) {
      following.observer().firstPiece();
    }
    prompt.forEach(shown -> listener.progress(shown.usage(), shown.timing()));
    if (begun != null) {
      listener.started(begun);
    }
    pieces.forEach(listener::piece);
    if (failed != null) {
      listener.failed(failed);
    } else if (ended != null) {
      following.observer().ended(key, ended);
      listener.ended(ended);
    }
  }

  @Override
  public synchronized void pause() {
    paused = true;
  }

  @Override
  public void resume() {
    synchronized (this) {
      paused = false;
      boolean nothing = found == null && end == null && failure == null && progress.isEmpty();
      if (waiting.isEmpty() && nothing) {
        return;
      }
    }
    schedule();
  }

  @Override
  public void close() {
    finish(false);
  }

  @Override
  public void cancel() {
    finish(true);
  }

  private void finish(boolean cancel) {
    boolean running;
    synchronized (this) {
      if (state == State.DONE) {
        return;
      }
      state = State.DONE;
      running = end == null;
      release();
    }
    owner.finished(this, cancel && running);
  }
}
