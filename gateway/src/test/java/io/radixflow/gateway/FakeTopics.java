package io.radixflow.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.gateway.topics.Topics;
import io.radixflow.protocol.record.ConversationEntry;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.ReplyDelta.Kind;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.topic.ConversationEntryWriter;
import io.radixflow.protocol.topic.DeltaWriter;
import io.radixflow.protocol.topic.ReplyLimiter;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Topics in memory: a test reads the sent events, and writes the records of the job. */
public final class FakeTopics implements Topics {

  private final BlockingQueue<ConversationEvent> events = new LinkedBlockingQueue<>();
  private volatile Reader reader;
  private volatile IndexReader index;
  private volatile boolean refusing;
  private volatile boolean closed;

  @Override
  public void follow(Reader reader) {
    this.reader = reader;
  }

  @Override
  public void followIndex(IndexReader reader) {
    this.index = reader;
    reader.begin();
  }

  /** Writes a record of the conversation index. */
  public void index(ConversationEntry entry) {
    index.entry(ConversationEntryWriter.key(entry), ConversationEntryWriter.value(entry));
  }

  @Override
  public CompletableFuture<Void> send(ConversationEvent event) {
    if (refusing) {
      return CompletableFuture.failedFuture(new IllegalStateException("no broker answers"));
    }
    events.add(event);
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public String problem() {
    return refusing ? "no broker answers" : null;
  }

  @Override
  public void close() {
    closed = true;
  }

  public boolean isClosed() {
    return closed;
  }

  /** Has events be sent again. */
  public void accept() {
    refusing = false;
  }

  /** Has all events fail from now on. */
  public void refuse() {
    refusing = true;
  }

  /** Waits for the next event that was sent. */
  public ConversationEvent next() {
    try {
      ConversationEvent event = events.poll(60, TimeUnit.SECONDS);
      if (event == null) {
        throw new AssertionError("no event was sent");
      }
      return event;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  public boolean hasEvents() {
    return !events.isEmpty();
  }

  /** When all turns end, milliseconds since the epoch. */
  private static final long COMPLETED = 5_000;

  /** Writes a delta of the event's turn. */
  public void piece(ConversationEvent event, int offset, String text) {
    delta(event, offset, text, null, null, Usage.NONE, null);
  }

  /** Writes the first delta of the event's turn, which has the counts so far. */
  public void begin(ConversationEvent event, String text, Usage counts) {
    delta(event, 0, text, null, null, counts, null);
  }

  /** Writes a delta of the event's turn with log probabilities. */
  public void logprobs(ConversationEvent event, int offset, String text, TokenLogprob... tokens) {
    ReplyDelta delta =
        new ReplyDelta(
            event.session(),
            event.branch(),
            event.turn(),
            0,
            offset,
            0,
            tokens.length,
            1,
            text,
            null,
            -1,
            null,
            null,
            null,
            0,
            Usage.NONE,
            null,
            List.of(tokens),
            null,
            null);
    reader.delta(event.session().getBytes(UTF_8), DeltaWriter.write(delta));
  }

  /** Writes a delta with tokens of the prompt. */
  public void prompt(ConversationEvent event, PromptTokens tokens) {
    shown(event, 0, "", 0, null, null, null, tokens);
  }

  /** Writes the last delta of the event's turn, which has a text with the ids of its tokens. */
  public void tokens(
      ConversationEvent event, int offset, String text, List<Integer> ids, Integer stopToken) {
    shown(event, offset, text, ids.size(), "stop", stopToken, ids, null);
  }

  private void shown(
      ConversationEvent event,
      int offset,
      String text,
      int tokens,
      String finishReason,
      Integer stopToken,
      List<Integer> ids,
      PromptTokens prompt) {
    List<TokenLogprob> logprobs =
        ids == null
            ? null
            : ids.stream().map(id -> new TokenLogprob(id, "t" + id, -1, List.of())).toList();
    ReplyDelta delta =
        new ReplyDelta(
            event.session(),
            event.branch(),
            event.turn(),
            0,
            offset,
            0,
            tokens,
            1,
            text,
            null,
            -1,
            null,
            finishReason,
            null,
            finishReason == null ? 0 : COMPLETED,
            Usage.NONE,
            null,
            logprobs,
            null,
            null,
            stopToken,
            ids,
            prompt,
            null,
            null);
    reader.delta(event.session().getBytes(UTF_8), DeltaWriter.write(delta));
  }

  /** Writes a delta that shows how long its turn took so far; the last one if it has a reason. */
  public void timed(
      ConversationEvent event,
      int offset,
      String text,
      String finishReason,
      Usage usage,
      TurnTiming timing) {
    ReplyDelta delta =
        new ReplyDelta(
            event.session(),
            event.branch(),
            event.turn(),
            0,
            offset,
            offset,
            text.length(),
            1,
            text,
            null,
            -1,
            null,
            finishReason,
            null,
            finishReason == null ? 0 : COMPLETED,
            usage,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            timing);
    reader.delta(event.session().getBytes(UTF_8), DeltaWriter.write(delta));
  }

  /** Writes the last delta of the event's turn. */
  public void end(ConversationEvent event, int offset, String finishReason, Usage usage) {
    delta(event, offset, "", finishReason, null, usage, null);
  }

  /** Writes the only delta of the event's turn, with a warning about a violated constraint. */
  public void warn(ConversationEvent event, String text, String warning) {
    ReplyDelta delta =
        new ReplyDelta(
            event.session(),
            event.branch(),
            event.turn(),
            0,
            0,
            0,
            1,
            1,
            text,
            null,
            -1,
            null,
            "stop",
            null,
            COMPLETED,
            Usage.NONE,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            List.of(warning),
            null);
    reader.delta(event.session().getBytes(UTF_8), DeltaWriter.write(delta));
  }

  /** Writes the last delta of the event's turn, whose reply met a stop text. */
  public void stop(ConversationEvent event, int offset, String stopReason, Usage usage) {
    delta(event, offset, "", "stop", stopReason, usage, null);
  }

  /** Writes the only delta of an event that is rejected. */
  public void reject(ConversationEvent event, String why) {
    delta(event, 0, "", "rejected", null, Usage.NONE, ReplyError.invalid(why));
  }

  /** Writes the only delta of an event that is rejected for a reason. */
  public void reject(ConversationEvent event, ReplyError error) {
    delta(event, 0, "", "rejected", null, Usage.NONE, error);
  }

  /** Writes a delta of a part of the event's reply that is not its content. */
  public void part(
      ConversationEvent event, int offset, Kind kind, int index, String id, String text) {
    delta(event, offset, text, kind, index, id, null, null, Usage.NONE, null);
  }

  /** Writes the deltas of a call of a tool: its name, then its arguments in two pieces. */
  public void call(ConversationEvent event, int offset, int index, ToolCall call) {
    String arguments = call.arguments();
    int half = arguments.length() / 2;
    int from = offset + call.name().length();
    part(event, offset, Kind.TOOL_CALL, index, call.id(), call.name());
    part(event, from, Kind.ARGUMENTS, index, call.id(), arguments.substring(0, half));
    part(event, from + half, Kind.ARGUMENTS, index, call.id(), arguments.substring(half));
  }

  private void delta(
      ConversationEvent event,
      int offset,
      String text,
      String finishReason,
      String stopReason,
      Usage usage,
      ReplyError error) {
    delta(event, offset, text, null, -1, null, finishReason, stopReason, usage, error);
  }

  private void delta(
      ConversationEvent event,
      int offset,
      String text,
      Kind kind,
      int index,
      String id,
      String finishReason,
      String stopReason,
      Usage usage,
      ReplyError error) {
    ReplyDelta delta =
        new ReplyDelta(
            event.session(),
            event.branch(),
            event.turn(),
            0,
            offset,
            offset,
            text.isEmpty() ? 0 : 1,
            1,
            text,
            kind,
            index,
            id,
            finishReason,
            stopReason,
            finishReason == null ? 0 : COMPLETED,
            usage,
            error,
            null,
            null,
            null);
    reader.delta(event.session().getBytes(UTF_8), DeltaWriter.write(delta));
  }

  /** Writes the only delta of a query: its answer. */
  public void answer(ConversationEvent query, Reply answer) {
    reader.delta(query.session().getBytes(UTF_8), DeltaWriter.write(ReplyDelta.last(answer)));
  }

  /** Writes the committed reply of the event's turn. */
  public void commit(ConversationEvent event, String text) {
    Reply reply =
        Reply.builder(event.session(), event.branch(), event.turn(), event.kind())
            .text(text)
            .usage(new Usage(7, 4, 2))
            .build();
    reader.reply(event.session().getBytes(UTF_8), new ReplyLimiter(1 << 20).write(reply));
  }

  /** Writes the answer to a query about a turn that runs. */
  public void running(ConversationEvent query, String text) {
    running(query, text, null);
  }

  /** Writes the answer to a query about a turn that runs, whose reply has parts. */
  public void running(ConversationEvent query, Message reply) {
    running(query, "", null, reply);
  }

  /** Writes the answer to a query about a turn that runs, and has metadata. */
  public void running(ConversationEvent query, String text, Map<String, String> metadata) {
    running(query, text, metadata, new Message("assistant", text));
  }

  private void running(
      ConversationEvent query, String text, Map<String, String> metadata, Message reply) {
    Reply.TurnState state =
        new Reply.TurnState(
            query.atTurn(),
            "running",
            "main",
            "",
            0,
            0,
            metadata,
            List.of(),
            text,
            null,
            null,
            null,
            null,
            null);
    Reply answer =
        Reply.builder(query.session(), query.branch(), query.turn(), query.kind())
            .turnState(state.with(reply, List.of()))
            .build();
    reader.delta(query.session().getBytes(UTF_8), DeltaWriter.write(ReplyDelta.last(answer)));
  }

  /** Has the gateway know that it may have missed records. */
  public void interrupt() {
    reader.interrupted();
  }

  /** Writes bytes that are not a delta. */
  public void garbage(ConversationEvent event) {
    reader.delta(event.session().getBytes(UTF_8), "no json".getBytes(UTF_8));
    reader.delta(null, new byte[0]);
  }
}
