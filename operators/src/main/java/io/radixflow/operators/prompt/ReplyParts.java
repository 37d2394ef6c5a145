package io.radixflow.operators.prompt;

import io.radixflow.engine.cache.key.StableHash;
import io.radixflow.protocol.record.PartLength;
import io.radixflow.protocol.record.PartOrder;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.text.prompt.Prefill;
import io.radixflow.text.reply.PartKind;
import io.radixflow.text.reply.ReasoningTracker;
import io.radixflow.text.reply.ReplyParser;
import io.radixflow.text.reply.ReplyPart;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.List;

/**
 * Splits the text of one reply, as it comes, into the parts of a message: content, reasoning and
 * tool calls. Parts and their offsets depend only on the whole text and not on how it is cut. So a
 * reply that continues after a failure has the same parts. Not thread-safe.
 */
public final class ReplyParts {
  private static final int ID_DIGITS = 24;

  /**
   * A piece of a part.
   *
   * @param index counts the reply's calls from 0; -1 for content and reasoning
   * @param offset code points of the texts of all earlier pieces
   */
  public record Piece(PartKind kind, int index, int offset, String text) {}

  private final ReplyParser parser;
  private final ReasoningTracker tracker;
  private final String session;
  private final String turn;
  private final Prefill prefill;
  private final StringBuilder content = new StringBuilder();
  private final StringBuilder reasoning = new StringBuilder();
  private final List<String> functions = new ArrayList<>();
  private final List<StringBuilder> arguments = new ArrayList<>();
  private List<Piece> fresh = new ArrayList<>();
  private final PartOrder whole = new PartOrder();
  private PartOrder order = new PartOrder();

  /** Characters of content and reasoning that the reply's sender wrote. */
  private int begunContent;

  private int begunReasoning;

  /** Number of content characters that the parser still holds back. */
  private int heldContent;

  private int heldReasoning;
  private int codePoints;
  private boolean finished;

  /**
   * @param parser finds the parts; null if all text is content
   * @param tracker counts the tokens of the reasoning; null if there is none
   * @param session id of the session; the ids of calls are derived from session and turn
   * @param prefill the beginning of the reply that its sender wrote; null for none
   */
  ReplyParts(
      ReplyParser parser, ReasoningTracker tracker, String session, String turn, Prefill prefill) {
    this.parser = parser;
    this.tracker = tracker;
    this.session = session;
    this.turn = turn;
    this.prefill = prefill;
    if (prefill != null) {
      begin(prefill);
    }
  }

  /** Returns the reader of a reply whose whole text is content. */
  public static ReplyParts plain() {
    return new ReplyParts(null, null, "", "", null);
  }

  /** Reads the beginning of the reply. Of its parts, only a call that continues becomes a piece. */
  private void begin(Prefill prefill) {
    accept(prefill.text());
    Message read = prefill.read();
    begunContent = content.length();
    begunReasoning = reasoning.length();
    heldContent = Math.max(0, read.content().length() - begunContent);
    int thought = read.reasoning() == null ? 0 : read.reasoning().length();
    heldReasoning = Math.max(0, thought - begunReasoning);
    codePoints = 0;
    order = new PartOrder();
    for (Piece piece : take()) {
      if (piece.index() >= 0) {
        give(piece.kind(), piece.index(), piece.text());
      }
    }
  }

  /** Counts the tokens of the next text. */
  public void count(int[] ids) {
    if (tracker != null) {
      for (int id : ids) {
        tracker.accept(id);
      }
    }
  }

  /** Appends the next text. */
  public void accept(String text) {
    if (parser != null) {
      parser.accept(text, this::add);
    } else if (!text.isEmpty()) {
      add(new ReplyPart(PartKind.CONTENT, -1, text));
    }
  }

  /**
   * Ends the reply, and assigns text that was held back to a part. Does nothing the second time.
   *
   * @param cut as in {@link ReplyParser#finish}
   */
  public void finish(boolean cut) {
    if (parser != null && !finished) {
      parser.finish(cut, this::add);
    }
    finished = true;
  }

  private void add(ReplyPart part) {
    String text = part.text();
    whole.add(kind(part.kind()), part.index(), text.codePointCount(0, text.length()));
    int held = 0;
    switch (part.kind()) {
      case CONTENT -> {
        content.append(text);
        held = Math.min(heldContent, text.length());
        heldContent -= held;
        begunContent += held;
      }
      case REASONING -> {
        reasoning.append(text);
        held = Math.min(heldReasoning, text.length());
        heldReasoning -= held;
        begunReasoning += held;
      }
      case TOOL_CALL -> {
        heldContent = 0; // the text was the beginning of a call
        functions.add(text);
        arguments.add(new StringBuilder());
      }
      case ARGUMENTS -> arguments.get(part.index()).append(text);
    }
    if (held < text.length()) {
      give(part.kind(), part.index(), text.substring(held));
    }
  }

  private void give(PartKind kind, int index, String text) {
    fresh.add(new Piece(kind, index, codePoints, text));
    int length = text.codePointCount(0, text.length());
    codePoints += length;
    order.add(kind(kind), index, length);
  }

  /** Returns the kind that deltas have for a part; null for content. */
  public static ReplyDelta.Kind kind(PartKind kind) {
    return switch (kind) {
      case CONTENT -> null;
      case REASONING -> ReplyDelta.Kind.REASONING_CONTENT;
      case TOOL_CALL -> ReplyDelta.Kind.TOOL_CALL;
      case ARGUMENTS -> ReplyDelta.Kind.ARGUMENTS;
    };
  }

  /**
   * Returns the runs of the parts so far as they were written; empty if reasoning came first, then
   * content, then calls.
   */
  public List<PartLength> order() {
    return order.runs();
  }

  /** Returns the runs of {@link #whole}. */
  public List<PartLength> wholeOrder() {
    return whole.runs();
  }

  /** Returns the pieces since the last call. */
  public List<Piece> take() {
    List<Piece> taken = fresh;
    fresh = new ArrayList<>();
    return taken;
  }

  /** Returns whether {@link #take} would return a piece. */
  public boolean hasNew() {
    return !fresh.isEmpty();
  }

  /** Returns the code points of the texts of all pieces so far. */
  public int codePoints() {
    return codePoints;
  }

  public boolean calls() {
    return !functions.isEmpty();
  }

  /** Returns the content so far, including the beginning that the sender wrote. */
  public String content() {
    return content.toString();
  }

  /** Returns how many of the counted tokens are reasoning. */
  public int reasoningTokens() {
    return tracker == null ? 0 : tracker.count();
  }

  /** Returns the id of a call, which is the same in all attempts. */
  public String callId(int index) {
    String hash = StableHash.hex(session, turn, Integer.toString(index));
    return "call_" + hash.substring(0, ID_DIGITS);
  }

  /** Returns the reply so far, without the beginning that its sender wrote. */
  public Message message() {
    return message(content.substring(begunContent), reasoning.substring(begunReasoning));
  }

  /** Returns the reply so far, with the beginning that its sender wrote. */
  public Message whole() {
    return message(content.toString(), reasoning.toString());
  }

  /** Returns the beginning that the reply's sender wrote; null for none. */
  public Message begun() {
    return prefill == null
        ? null
        : new Message(
            "assistant",
            content.substring(0, begunContent),
            null,
            List.of(),
            null,
            begunReasoning == 0 ? null : reasoning.substring(0, begunReasoning));
  }

  private Message message(String content, String reasoning) {
    List<ToolCall> calls = new ArrayList<>();
    for (int i = 0; i < functions.size(); i++) {
      calls.add(new ToolCall(callId(i), functions.get(i), arguments.get(i).toString()));
    }
    return new Message(
        "assistant",
        content.isEmpty() && !calls.isEmpty() ? null : content,
        null,
        calls,
        null,
        reasoning.isEmpty() ? null : reasoning);
  }
}
