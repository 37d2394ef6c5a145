package io.radixflow.gateway.api;

import io.radixflow.gateway.api.SessionFinder.Root;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.gateway.turn.TurnFound;
import io.radixflow.gateway.turn.TurnListener;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.gateway.turn.TurnStream;
import io.radixflow.gateway.turn.Turns;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * The turns of a request, one for each choice. If a session is derived from the beginning of a
 * conversation, it may have ended, or it may be busy because many conversations begin in the same
 * way. Then a turn moves to its own session. So does a turn that is sent again after such a
 * rejection. Belongs to the event loop of its exchange.
 */
public final class ApiTurns implements TurnStream {

  /**
   * Errors after which a turn moves to another session; a list, because {@code contains} may get
   * null.
   */
  private static final List<ErrorCode> SPARED =
      Arrays.asList(ErrorCode.BUSY, ErrorCode.SESSION_ENDED);

  private final Turns turns;
  private final Exchange exchange;
  private final BiFunction<Root, Integer, ConversationEvent> events;
  private final ApiOutput output;
  private final boolean repeatable;
  private final TurnStream[] choices;

  /**
   * @param events creates the event of a choice
   * @param repeatable whether the events may have been sent before
   */
  public ApiTurns(
      Turns turns,
      Exchange exchange,
      int choices,
      BiFunction<Root, Integer, ConversationEvent> events,
      ApiOutput output,
      boolean repeatable) {
    this.turns = turns;
    this.exchange = exchange;
    this.events = events;
    this.output = output;
    this.repeatable = repeatable;
    this.choices = new TurnStream[choices];
  }

  /** Starts all turns. */
  public void start(Root root) {
    output.begin(this);
    for (int choice = 0; choice < choices.length; choice++) {
      start(root, choice);
    }
  }

  private void start(Root root, int choice) {
    ConversationEvent event = events.apply(root, choice);
    name(choice, event.session(), event.turn());
    TurnListener listener = new Choice(root, choice, event);
    if (!repeatable) {
      choices[choice] = turns.start(event, exchange.following(), listener);
    } else if (root.named()) {
      choices[choice] = turns.startOrResume(event, exchange.following(), listener);
    } else {
      choices[choice] = turns.startOrResumeOnce(event, exchange.following(), listener);
    }
  }

  /**
   * Names the current session and turn of the first choice in the response's headers, unless the
   * response has begun.
   */
  private void name(int choice, String session, String turn) {
    if (choice == 0 && !exchange.hasBegun()) {
      SessionFinder.name(exchange, session, turn);
    }
  }

  @Override
  public void pause() {
    each(TurnStream::pause);
  }

  @Override
  public void resume() {
    each(TurnStream::resume);
  }

  @Override
  public void close() {
    each(TurnStream::close);
  }

  @Override
  public void cancel() {
    each(TurnStream::cancel);
  }

  private void each(Consumer<TurnStream> action) {
    for (TurnStream choice : choices) {
      if (choice != null) {
        action.accept(choice);
      }
    }
  }

  /** Listens to the turn of one choice. */
  private final class Choice implements TurnListener {
    private final Root root;
    private final int choice;
    private final ConversationEvent event;

    Choice(Root root, int choice, ConversationEvent event) {
      this.root = root;
      this.choice = choice;
      this.event = event;
    }

    @Override
    public void found(TurnFound found) {
      name(choice, event.session(), found.turn());
      FirstSent.of(found).ifPresent(output::created);
    }

    @Override
    public void progress(Usage counts, TurnTiming timing) {
      output.progress(choice, counts, timing);
    }

    @Override
    public void started(Usage counts) {
      output.started(choice, counts);
    }

    @Override
    public void piece(TurnPiece piece) {
      output.piece(choice, piece);
    }

    @Override
    public void ended(TurnEnd end) {
      if (isElsewhere(end) && root.hasSpare() && !exchange.isOver()) {
        start(root.spare(event.turn()), choice);
      } else {
        output.ended(choice, end);
      }
    }

    /**
     * Returns whether the turn moves to its own session. A session that rejected the turn before
     * may not know it.
     */
    private boolean isElsewhere(TurnEnd end) {
      ErrorCode code = end.error() == null ? null : end.error().code();
      boolean refused = SPARED.contains(code) || repeatable && end.isWorthAnotherTry();
      return refused && !root.named() || code == ErrorCode.UNKNOWN_TURN && repeatable;
    }

    @Override
    public void failed(TurnFailure failure) {
      output.failed(failure);
    }
  }
}
