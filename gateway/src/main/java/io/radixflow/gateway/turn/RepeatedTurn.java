package io.radixflow.gateway.turn;

import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;
import java.util.function.Consumer;

/**
 * The turn of a request that a client may have sent before. A rejected turn uses up its id. So if
 * the job had no room and rejected the turn earlier, the request continues with the next id. All
 * gateways query the same ids in the same order. So they find a turn that was accepted under one of
 * the ids, and the turn does not run twice.
 */
final class RepeatedTurn implements TurnStream, TurnListener {

  /** The most ids to try; reasonable clients need fewer. */
  private static final int MAX_IDS = 32;

  private final Turns turns;
  private final ConversationEvent event;
  private final Following following;
  private final TurnListener listener;
  private int number;
  private TurnStream current;
  private boolean paused;

  /** Ends the turn early when it is known; null if the turn must not end early. */
  private Consumer<TurnStream> ending;

  RepeatedTurn(Turns turns, ConversationEvent event, Following following, TurnListener listener) {
    this.turns = turns;
    this.event = event;
    this.following = following;
    this.listener = listener;
  }

  RepeatedTurn start() {
    TurnStream started = turns.startOrResumeOnce(event(), following, this);
    synchronized (this) {
      current = started;
      if (paused) {
        started.pause();
      }
      if (ending != null) {
        ending.accept(started);
      }
    }
    return this;
  }

  private ConversationEvent event() {
    return number == 0 ? event : event.toBuilder(event.turn() + "~" + number).build();
  }

  @Override
  public void found(TurnFound turn) {
    listener.found(turn);
  }

  @Override
  public void progress(Usage counts, TurnTiming timing) {
    listener.progress(counts, timing);
  }

  @Override
  public void started(Usage counts) {
    listener.started(counts);
  }

  @Override
  public void piece(TurnPiece piece) {
    listener.piece(piece);
  }

  @Override
  public void ended(TurnEnd end) {
    boolean again;
    synchronized (this) {
      again = end.isWorthAnotherTry() && ++number < MAX_IDS && ending == null;
    }
    if (again) {
      start();
    } else {
      listener.ended(end);
    }
  }

  @Override
  public void failed(TurnFailure failure) {
    listener.failed(failure);
  }

  @Override
  public synchronized void pause() {
    paused = true;
    if (current != null) {
      current.pause();
    }
  }

  @Override
  public synchronized void resume() {
    paused = false;
    if (current != null) {
      current.resume();
    }
  }

  @Override
  public void close() {
    end(TurnStream::close);
  }

  @Override
  public void cancel() {
    end(TurnStream::cancel);
  }

  private synchronized void end(Consumer<TurnStream> how) {
    if (ending == null) {
      ending = how;
      if (current != null) {
        how.accept(current);
      }
    }
  }
}
