package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.client.TurnPart;
import io.radixflow.gateway.api.ApiOutput;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.SseStream;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;
import java.util.List;
import java.util.stream.Stream;

/** Streams a completion as it grows. Belongs to the event loop of its exchange. */
final class ChatStream extends ApiOutput {

  private final SseStream events;
  private final CompletionJson json;
  private final StreamUsage usage;
  private final boolean[] begun;
  private final Timings timings;
  private final List<GrowingReply> replies;

  ChatStream(Exchange exchange, CompletionJson json, CompletionRequest request) {
    super(exchange, json, request.choices());
    this.events = exchange.sse();
    this.json = json;
    this.usage = request.usage();
    this.begun = new boolean[request.choices()];
    this.timings = request.timings();
    this.replies = Stream.generate(GrowingReply::new).limit(begun.length).toList();
  }

  @Override
  protected void progress(int choice, Usage prompt, TurnTiming timing) {
    started(choice, prompt);
    if (timings.perToken()) {
      replies.get(choice).measure(timing);
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
    ObjectNode event = json.chunk(choice, TurnPiece.NONE, null);
    addCounts(event, choice);
    Timings.addProgress(event, prompt, done, millis);
    events.event(null, event);
  }

  private void addCounts(ObjectNode event, int choice) {
    switch (usage) {
      case NONE -> {}
      case LAST -> event.putNull("usage");
      case EACH -> replies.get(choice).addUsage(event);
    }
  }

  @Override
  protected void started(int choice, Usage prompt) {
    replies.get(choice).begin(prompt);
  }

  @Override
  protected void piece(int choice, TurnPiece piece) {
    replies.get(choice).add(piece.tokens());
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
    ObjectNode event = json.chunk(choice, piece, end);
    addCounts(event, choice);
    // some clients add the speed of the last piece and of the event with the counts
    boolean counted = usage != StreamUsage.NONE && begun.length == 1 && !timings.perToken();
    if (end == null) {
      replies.get(choice).addSpeed(event);
    } else if (!counted) {
      Timings.add(event, end);
    }
    events.event(null, event);
  }

  private void open(int choice, TurnPart part) {
    ObjectNode opening = begun[choice] ? null : json.opening(choice, part);
    begun[choice] = true;
    if (opening != null) {
      addCounts(opening, choice);
      events.event(null, opening);
    }
  }

  @Override
  protected void finished(int choice, TurnEnd end) {
    writeHeld(choice);
    replies.get(choice).end(end.usage());
    write(choice, TurnPiece.NONE, end);
  }

  @Override
  protected void complete(List<TurnEnd> ends) {
    if (usage != StreamUsage.NONE) {
      events.event(null, json.usageChunk(ends));
    }
    events.done();
  }
}
