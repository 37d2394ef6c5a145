package io.radixflow.protocol.record;

import java.util.List;

/**
 * A piece of a running reply, emitted at least once; a Flink POJO. Consumers append text that
 * extends the text so far; overlapping pieces are equal.
 *
 * @param choice index of the choice, 0
 * @param offset code points of the texts of all pieces of the reply before {@code text}
 * @param tokenOffset generated tokens before the tokens of this piece
 * @param tokens how many tokens this piece stands for
 * @param attempt epoch of the operator; the highest wins
 * @param text the piece, whole characters
 * @param kind the part of the reply that it belongs to; null for content
 * @param index for a call's piece, the call's number in the reply from 0; else -1
 * @param id for a call's piece, the call's id; else null
 * @param finishReason in the last piece, else null
 * @param stopReason in the last piece: the stop text that ended the reply, or null
 * @param completed in the last piece: when the turn ended, milliseconds since the epoch; else 0
 * @param usage counts of the whole turn in the last piece, counts so far in an attempt's first
 *     piece; else {@link Usage#NONE}
 * @param error in the last piece: why the turn was rejected or failed; else null
 * @param logprobs one entry for each token of this piece, if requested; else null
 * @param trace the trace that its event belongs to, or null
 * @param answer in the last piece of a query: its reply, which is not committed yet; else null
 * @param stopToken in the last piece: the stop token that ended the reply, or null
 * @param tokenIds ids of the tokens that it stands for, if asked for; else null
 * @param prompt tokens of the prompt, in a piece without text, if asked for; else null
 * @param warnings in the last piece: constraints of its event that the reply may violate; null for
 *     none
 * @param timing next to {@code usage}: how long the turn took so far; null if it is not known
 */
public record ReplyDelta(
    String session,
    String branch,
    String turn,
    int choice,
    int offset,
    int tokenOffset,
    int tokens,
    long attempt,
    String text,
    Kind kind,
    int index,
    String id,
    String finishReason,
    String stopReason,
    long completed,
    Usage usage,
    ReplyError error,
    List<Reply.TokenLogprob> logprobs,
    TraceContext trace,
    Reply answer,
    Integer stopToken,
    List<Integer> tokenIds,
    PromptTokens prompt,
    List<String> warnings,
    TurnTiming timing) {

  /** The parts of a reply that are not its content; lower case in records. */
  public enum Kind {
    /** Reasoning: the model's thoughts before it replied. */
    REASONING_CONTENT,
    /** The name of a function, which opens a call. */
    TOOL_CALL,
    /** JSON text of a call's arguments. */
    ARGUMENTS
  }

  /** A piece without token ids. */
  public ReplyDelta(
      String session,
      String branch,
      String turn,
      int choice,
      int offset,
      int tokenOffset,
      int tokens,
      long attempt,
      String text,
      Kind kind,
      int index,
      String id,
      String finishReason,
      String stopReason,
      long completed,
      Usage usage,
      ReplyError error,
      List<Reply.TokenLogprob> logprobs,
      TraceContext trace,
      Reply answer) {
    this(
        session,
        branch,
        turn,
        choice,
        offset,
        tokenOffset,
        tokens,
        attempt,
        text,
        kind,
        index,
        id,
        finishReason,
        stopReason,
        completed,
        usage,
        error,
        logprobs,
        trace,
        answer,
        null,
        null,
        null,
        null,
        null);
  }

  /** A piece of a turn that was not refused. */
  public ReplyDelta(
      String session,
      String branch,
      String turn,
      int choice,
      int offset,
      int tokenOffset,
      int tokens,
      long attempt,
      String text,
      String finishReason,
      Usage usage) {
    this(
        session,
        branch,
        turn,
        choice,
        offset,
        tokenOffset,
        tokens,
        attempt,
        text,
        null,
        -1,
        null,
        finishReason,
        null,
        0,
        usage,
        null,
        null,
        null,
        null);
  }

  /**
   * Makes the only piece of a reply that was not generated, or the last one of a reply that ends
   * without the engine.
   *
   * @param reply the whole reply
   */
  public static ReplyDelta last(Reply reply) {
    return new ReplyDelta(
        reply.session(),
        reply.branch(),
        reply.turn(),
        0,
        reply.text().codePointCount(0, reply.text().length()),
        0,
        0,
        reply.attempt(),
        "",
        null,
        -1,
        null,
        reply.finishReason(),
        reply.stopReason(),
        reply.created(),
        reply.usage(),
        reply.error(),
        null,
        reply.trace(),
        reply.kind() == EventKind.QUERY ? reply : null);
  }
}
