package io.radixflow.operators.record;

import java.util.List;

/**
 * The one committed answer to an event with a turn; a Flink POJO.
 *
 * @param session root id
 * @param branch branch
 * @param turn turn id
 * @param kind the event's kind
 * @param attempt epoch of the operator that finished the reply
 * @param text the reply; empty if there is none
 * @param finishReason lower case: stop, length, tool_calls, cancelled, replaced, rejected, error
 * @param usage its counts of tokens
 * @param seed the seed used
 * @param droppedTurns turns that were dropped from the prompt to fit the context window
 * @param logprobs one entry a token, or null
 * @param error why it is rejected or failed, or null
 * @param items {@code query}: the branch's items, else null
 * @param status {@code query}: the slot's state, else null
 * @param created milliseconds since the epoch
 * @param pages {@code query} of an open session: where its pages are, else null
 */
public record Reply(
    String session,
    String branch,
    String turn,
    EventKind kind,
    long attempt,
    String text,
    String finishReason,
    Usage usage,
    long seed,
    int droppedTurns,
    List<TokenLogprob> logprobs,
    ReplyError error,
    List<Item> items,
    String status,
    long created,
    Pages pages) {

  /** Returns a builder of a reply without text that finishes with {@code stop}. */
  public static ReplyBuilder builder(String session, String branch, String turn, EventKind kind) {
    return new ReplyBuilder(session, branch, turn, kind);
  }

  /** Returns a builder initialised from this reply. */
  public ReplyBuilder toBuilder() {
    return new ReplyBuilder(session, branch, turn, kind)
        .attempt(attempt)
        .text(text)
        .finishReason(finishReason)
        .usage(usage)
        .seed(seed)
        .droppedTurns(droppedTurns)
        .logprobs(logprobs)
        .error(error)
        .items(items)
        .status(status)
        .created(created)
        .pages(pages);
  }

  /** The reply to the same turn without anything that was said, for a session that was erased. */
  public Reply erased() {
    return new Reply(
        session,
        branch,
        turn,
        kind,
        attempt,
        "",
        "cancelled",
        usage,
        seed,
        droppedTurns,
        null,
        new ReplyError(ErrorCode.SESSION_ENDED, "the session was erased"),
        null,
        null,
        created,
        null);
  }

  /**
   * Where the branch's pages are; a Flink POJO.
   *
   * @param committedTokens tokens of its whole pages, wherever these are
   * @param tokens of those, where they are
   * @param lastUsed when a turn last used them, milliseconds since the epoch; 0 if not known
   * @param asOf when they were there, milliseconds since the epoch; 0 if not known
   */
  public record Pages(int committedTokens, TierTokens tokens, long lastUsed, long asOf) {}

  /** One generated token with its log probabilities; a Flink POJO. */
  public record TokenLogprob(int id, String token, float logprob, List<TopLogprob> top) {}

  /** One alternative; a Flink POJO. */
  public record TopLogprob(int id, String token, float logprob) {}

  /** One turn of a branch's history as a query shows it; a Flink POJO. */
  public record Item(String turn, String role, String content, String finishReason) {}
}
