package io.radixflow.gateway.console;

import io.radixflow.gateway.FakeTopics;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.Reply.TurnState;
import io.radixflow.protocol.record.ReplyBuilder;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierUsage;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A job whose replies the test writes. It records its events, answers queries by itself and ends
 * cancelled turns.
 */
final class FakeJob implements AutoCloseable {

  static final Usage USAGE = new Usage(100, 75, 5, new TierUsage(0, 25, 0, 10));

  private final FakeTopics topics;
  private final Map<String, Turn> turns = new ConcurrentHashMap<>();
  private final BlockingQueue<Turn> started = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> erased = new LinkedBlockingQueue<>();
  private final Thread thread = new Thread(this::serve, "fake job");

  /** A turn and its reply so far. */
  static final class Turn {
    private final FakeTopics topics;
    private final ConversationEvent event;
    private String text = "";
    private String reasoning = "";
    private final List<ToolCall> calls = new ArrayList<>();
    private String finishReason;

    private Turn(FakeTopics topics, ConversationEvent event) {
      this.topics = topics;
      this.event = event;
    }

    ConversationEvent event() {
      return event;
    }

    /** The last message of the turn's prompt. */
    String message() {
      return event.messages().get(event.messages().size() - 1).content();
    }

    Turn say(String piece) {
      synchronized (topics) {
        int offset = length();
        text += piece;
        topics.piece(event, offset, piece);
        return this;
      }
    }

    /** Writes reasoning, which comes before all text. */
    Turn think(String piece) {
      synchronized (topics) {
        topics.part(event, length(), ReplyDelta.Kind.REASONING_CONTENT, -1, null, piece);
        reasoning += piece;
        return this;
      }
    }

    /** Writes a call of a tool, which comes after all text. */
    Turn call(ToolCall call) {
      synchronized (topics) {
        topics.call(event, length(), calls.size(), call);
        calls.add(call);
        return this;
      }
    }

    private int length() {
      StringBuilder all = new StringBuilder(reasoning).append(text);
      calls.forEach(call -> all.append(call.name()).append(call.arguments()));
      return all.codePointCount(0, all.length());
    }

    void end(String reason) {
      synchronized (topics) {
        finishReason = reason;
        topics.end(event, length(), reason, USAGE);
      }
    }

    private TurnState state() {
      return new TurnState(
          event.turn(),
          finishReason == null ? "running" : "done",
          "main",
          "",
          1_000,
          finishReason == null ? 0 : 5_000,
          event.metadata(),
          event.messages(),
          text,
          null,
          finishReason,
          null,
          finishReason == null ? null : USAGE,
          null,
          reasoning.isEmpty() ? null : reasoning,
          calls,
          List.of(),
          null);
    }
  }

  FakeJob(FakeTopics topics) {
    this.topics = topics;
    thread.setDaemon(true);
    thread.start();
  }

  private void serve() {
    try {
      while (!Thread.currentThread().isInterrupted()) {
        ConversationEvent event = topics.next();
        // the gateway is given the records of a topic one at a time
        synchronized (topics) {
          take(event);
        }
      }
    } catch (AssertionError e) {
      // the test is over
    }
  }

  private void take(ConversationEvent event) {
    String previous = event.previousTurn();
    if (event.kind() == EventKind.MESSAGE && previous != null && !turns.containsKey(previous)) {
      topics.reject(event, new ReplyError(ErrorCode.UNKNOWN_TURN, "there is no turn " + previous));
    } else if (event.kind() == EventKind.MESSAGE) {
      Turn turn = new Turn(topics, event);
      // a request that is sent again has the turn it had before
      if (turns.putIfAbsent(event.turn(), turn) == null) {
        started.add(turn);
      }
    } else if (event.kind() == EventKind.CANCEL) {
      turns.get(event.turn()).end("cancelled");
    } else if (event.kind() == EventKind.QUERY && event.atTurn() != null) {
      Turn turn = turns.get(event.atTurn());
      topics.answer(event, reply(event).turnState(turn == null ? null : turn.state()).build());
    } else {
      if (event.kind() == EventKind.ERASE) {
        erased.add(event.session());
      }
      topics.answer(event, reply(event).items(items(event.session())).status("idle").build());
    }
  }

  private List<Reply.Item> items(String session) {
    List<Reply.Item> items = new ArrayList<>();
    for (Turn turn : turns.values()) {
      if (turn.event.session().equals(session) && turn.finishReason != null) {
        turn.event.messages().forEach(message -> items.add(item(turn, message, null)));
        items.add(item(turn, new Message("assistant", turn.text), turn.finishReason));
      }
    }
    return items;
  }

  private static Reply.Item item(Turn turn, Message message, String finishReason) {
    return new Reply.Item(turn.event.turn(), message, finishReason, null, List.of());
  }

  /** Loses all turns, as a job does whose state is gone. */
  void forget() {
    turns.clear();
  }

  private static ReplyBuilder reply(ConversationEvent event) {
    return Reply.builder(event.session(), "main", event.turn(), event.kind());
  }

  /** Waits for the next turn that is started. */
  Turn next() {
    return poll(started);
  }

  /** Waits for the next session that is erased. */
  String nextErased() {
    return poll(erased);
  }

  private static <T> T poll(BlockingQueue<T> queue) {
    try {
      T next = queue.poll(60, TimeUnit.SECONDS);
      if (next == null) {
        throw new AssertionError("nothing came");
      }
      return next;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
