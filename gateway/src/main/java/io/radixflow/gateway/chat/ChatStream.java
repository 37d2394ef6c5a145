package io.radixflow.gateway.chat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.radixflow.client.TurnPart;
import io.radixflow.gateway.api.ApiOutput;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.http.SseStream;
import io.radixflow.gateway.http.TurnErrors;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.gateway.turn.TurnStream;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;

/** Streams a completion as it grows. Belongs to the event loop of its exchange. */
final class ChatStream implements ApiOutput {

  private static final byte[] DONE = "[DONE]".getBytes(US_ASCII);

  private final Exchange exchange;
  private final SseStream events;
  private final CompletionJson json;
  private final StreamUsage usage;
  private final boolean[] begun;
  private final UsageSum sum;
  private final Timings timings;

  /** The speed of each choice; null where it is not shown or not known. */
  private final ReplySpeed[] speeds;

  /** The counts so far of each choice; null if pieces do not have them. */
  private final GrowingUsage[] counts;

  private TurnStream turns;
  private int running;

  ChatStream(Exchange exchange, CompletionJson json, CompletionRequest request) {
    this.exchange = exchange;
    this.events = exchange.sse();
    this.json = json;
    this.usage = request.usage();
    this.begun = new boolean[request.choices()];
    this.running = request.choices();
    this.timings = request.timings();
    this.speeds = new ReplySpeed[running];
    this.counts = new GrowingUsage[running];
    for (int i = 0; usage == StreamUsage.EACH && i < running; i++) {
      counts[i] = new GrowingUsage();
    }
    this.sum = new UsageSum(request.choicesOfPrompt());
  }

  @Override
  public void begin(TurnStream started) {
    turns = started;
  }

  @Override
  public void created(long created) {
    json.created(created);
  }

  @Override
  public void progress(int choice, Usage prompt, TurnTiming timing) {
    started(choice, prompt);
    if (timings.perToken()) {
      speeds[choice] = new ReplySpeed(prompt, timing);
    }
    if (timings.progress()) {
      boolean first = !begun[choice];
      open(choice, TurnPart.CONTENT);
      if (first && timing.promptDone() > prompt.cachedTokens()) {
        progress(choice, prompt, prompt.cachedTokens(), 0);
      }
      progress(choice, prompt, timing.promptDone(), timing.prompt());
      events.throttle(turns);
    }
  }

  private void progress(int choice, Usage prompt, int done, long millis) {
    events.event(
        null,
        json.chunk(
            choice,
            TurnPiece.NONE,
            null,
            counts(choice),
            fields -> Timings.progress(fields, prompt, done, millis)));
  }

  /** Returns what writes the counts of tokens of a piece; null for nothing. */
  private Json.Fields counts(int choice) {
    return usage == StreamUsage.LAST ? fields -> fields.writeNullField("usage") : counts[choice];
  }

  @Override
  public void started(int choice, Usage prompt) {
    if (counts[choice] != null) {
      counts[choice].begin(prompt);
    }
  }

  @Override
  public void piece(int choice, TurnPiece piece) {
    if (counts[choice] != null) {
      counts[choice].add(piece.tokens());
    }
    if (speeds[choice] != null) {
      speeds[choice].add(piece.tokens());
    }
    if (piece.shows()) {
      if (json.holds(choice, piece)) {
        return;
      }
      writeHeld(choice);
      write(choice, piece, null);
      events.throttle(turns);
    }
  }

  private void writeHeld(int choice) {
    TurnPiece held = json.held(choice);
    if (held != null) {
      write(choice, held, null);
    }
  }

  private void write(int choice, TurnPiece piece, TurnEnd end) {
    open(choice, piece.part());
    Json.Fields speed = end == null ? speeds[choice] : speed(end);
    events.event(null, json.chunk(choice, piece, end, counts(choice), speed));
  }

  /** Returns null if the event with the counts has the speed. Some clients add the two. */
  private Json.Fields speed(TurnEnd end) {
    boolean counted = usage != StreamUsage.NONE && begun.length == 1;
    return counted && !timings.perToken() ? null : fields -> Timings.write(fields, end);
  }

  private void open(int choice, TurnPart part) {
    byte[] opening = begun[choice] ? null : json.opening(choice, part, counts(choice));
    begun[choice] = true;
    if (opening != null) {
      events.event(null, opening);
    }
  }

  @Override
  public void ended(int choice, TurnEnd end) {
    ApiException error = TurnErrors.of(end, json.promptField());
    if (error != null) {
      fail(error);
      return;
    }
    writeHeld(choice);
    if (counts[choice] != null) {
      counts[choice].end(end.usage());
    }
    write(choice, TurnPiece.NONE, end);
    sum.add(choice, end.usage());
    if (--running > 0) {
      return;
    }
    if (usage != StreamUsage.NONE) {
      events.event(null, json.usageChunk(sum.total(), begun.length == 1 ? end : null));
    }
    events.event(null, DONE);
    events.end();
  }

  @Override
  public void failed(TurnFailure failure) {
    fail(TurnErrors.of(failure));
  }

  /** If one choice fails, the whole response ends. */
  private void fail(ApiException error) {
    turns.close();
    exchange.fail(error);
  }
}
