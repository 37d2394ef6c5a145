package io.radixflow.gateway.api;

import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.gateway.turn.TurnStream;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;
import java.util.Arrays;
import java.util.List;

/**
 * Answers a request while the turns of its choices run. If one choice fails, the whole response
 * ends. Called on the exchange's event loop.
 */
public abstract class ApiOutput {

  protected final Exchange exchange;

  /** The turns; the output pauses them while the client is slow. Set before any other call. */
  protected TurnStream turns;

  private final ReplyWriter writer;
  private final TurnEnd[] ends;
  private int running;

  protected ApiOutput(Exchange exchange, ReplyWriter writer, int choices) {
    this.exchange = exchange;
    this.writer = writer;
    this.ends = new TurnEnd[choices];
    this.running = choices;
  }

  final void begin(TurnStream started) {
    turns = started;
  }

  /** Called if the request may have been sent before. */
  final void created(long seconds) {
    writer.created(seconds);
  }

  /**
   * Called when more of the prompt of a choice is done, before the first piece of the choice.
   *
   * @param counts token counts of the prompt
   * @param timing timing of the turn so far
   */
  protected void progress(int choice, Usage counts, TurnTiming timing) {}

  /**
   * Called when the reply of a choice begins, before its first piece.
   *
   * @param counts token counts of the prompt and of the reply so far
   */
  protected void started(int choice, Usage counts) {}

  /** Called with the next piece of a choice's reply. */
  protected abstract void piece(int choice, TurnPiece piece);

  /** Called when a choice has ended without a failure. */
  protected void finished(int choice, TurnEnd end) {}

  /** Called when all choices have ended. */
  protected abstract void complete(List<TurnEnd> all);

  final void ended(int choice, TurnEnd end) {
    ApiException error = TurnErrors.of(end, writer.promptField());
    if (error != null) {
      fail(error);
      return;
    }
    ends[choice] = end;
    finished(choice, end);
    if (--running == 0) {
      complete(Arrays.asList(ends));
    }
  }

  /** Called when a choice can no longer be followed. */
  final void failed(TurnFailure failure) {
    fail(TurnErrors.of(failure));
  }

  private void fail(ApiException error) {
    turns.close();
    exchange.fail(error);
  }
}
