package io.radixflow.protocol.record;

import io.radixflow.protocol.record.kv.TierTokens;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.List;
import java.util.Map;

/**
 * The one committed answer to an event with a turn; a Flink POJO.
 *
 * @param session root id
 * @param branch branch
 * @param turn turn id
 * @param kind the event's kind
 * @param attempt epoch of the operator that finished the reply
 * @param text the reply's content; empty if there is none
 * @param finishReason lower case: stop, length, tool_calls, cancelled, replaced, rejected, error
 * @param stopReason the stop text that ended the reply, or null
 * @param usage the reply's token counts
 * @param seed the seed that the sampler used
 * @param droppedTurns turns that were dropped from the prompt to fit the context window
 * @param logprobs one entry per token, or null
 * @param error why the turn was rejected or failed, or null
 * @param items the branch's items for a {@code query}, else null
 * @param status the slot's state for a {@code query}, else null
 * @param created milliseconds since the epoch
 * @param metadata the event's metadata, or null
 * @param turnState the turn's state for a {@code query} of a turn, else null
 * @param trace the trace of the event, or null; it is written as a header of the record
 * @param pages where the branch's pages are, for a {@code query} of an open session, else null
 * @param reasoning the model's reasoning before its reply, or null
 * @param toolCalls tool calls, in order; empty for none
 * @param order runs of the parts as they were written; empty if reasoning came first, then content,
 *     then calls
 * @param stopToken the stop token that ended the reply, or null
 * @param tokenIds ids of the reply's tokens if the event asked for them, else null
 * @param prompt tokens of the prompt if the event asked for them, else null
 * @param warnings constraints of the event that the reply may violate; null for none
 */
public record Reply(
    String session,
    String branch,
    String turn,
    EventKind kind,
    long attempt,
    String text,
    String finishReason,
    String stopReason,
    Usage usage,
    long seed,
    int droppedTurns,
    List<TokenLogprob> logprobs,
    ReplyError error,
    List<Item> items,
    String status,
    long created,
    Map<String, String> metadata,
    TurnState turnState,
    TraceContext trace,
    Pages pages,
    String reasoning,
    List<ToolCall> toolCalls,
    List<PartLength> order,
    Integer stopToken,
    List<Integer> tokenIds,
    PromptTokens prompt,
    List<String> warnings) {

  public Reply {
    toolCalls = toolCalls == null ? List.of() : List.copyOf(toolCalls);
    order = order == null ? List.of() : List.copyOf(order);
  }

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
        .stopReason(stopReason)
        .usage(usage)
        .seed(seed)
        .droppedTurns(droppedTurns)
        .logprobs(logprobs)
        .error(error)
        .items(items)
        .status(status)
        .created(created)
        .metadata(metadata)
        .turnState(turnState)
        .trace(trace)
        .pages(pages)
        .reasoning(reasoning)
        .toolCalls(toolCalls)
        .order(order)
        .stopToken(stopToken)
        .tokenIds(tokenIds)
        .prompt(prompt)
        .warnings(warnings);
  }

  /** Returns the assistant's message; its content is null if it only calls tools. */
  public Message message() {
    return message(text, reasoning, toolCalls);
  }

  private static Message message(String text, String reasoning, List<ToolCall> toolCalls) {
    boolean none = text == null || text.isEmpty();
    String empty = toolCalls.isEmpty() ? "" : null;
    return new Message("assistant", none ? empty : text, null, toolCalls, null, reasoning);
  }

  /** Returns this reply without any of its text, for a session that was erased. */
  public Reply erased() {
    return new Reply(
        session,
        branch,
        turn,
        kind,
        attempt,
        "",
        "cancelled",
        null,
        usage,
        seed,
        droppedTurns,
        null,
        new ReplyError(ErrorCode.SESSION_ENDED, "the session was erased"),
        null,
        null,
        created,
        null,
        null,
        trace,
        null,
        null,
        List.of(),
        List.of(),
        null,
        null,
        null,
        null);
  }

  /**
   * Where the branch's pages are; a Flink POJO.
   *
   * @param committedTokens tokens of the branch's whole pages in all tiers together
   * @param tokens the number of these tokens in each tier
   * @param lastUsed when a turn last used the pages, milliseconds since the epoch; 0 if not known
   * @param asOf when {@code tokens} was counted, milliseconds since the epoch; 0 if not known
   */
  public record Pages(int committedTokens, TierTokens tokens, long lastUsed, long asOf) {}

  /**
   * One generated token with its log probabilities; a Flink POJO.
   *
   * @param token the token's text, with U+FFFD for parts of characters
   * @param bytes the token's bytes, 0 to 255, if its text cannot show all of them; else null
   */
  public record TokenLogprob(
      int id, String token, float logprob, List<TopLogprob> top, List<Integer> bytes) {

    /** A token of whole characters. */
    public TokenLogprob(int id, String token, float logprob, List<TopLogprob> top) {
      this(id, token, logprob, top, null);
    }
  }

  /**
   * One alternative to a generated token; a Flink POJO.
   *
   * @param token the token's text, with U+FFFD for parts of characters
   * @param bytes the token's bytes, 0 to 255, if its text cannot show all of them; else null
   */
  public record TopLogprob(int id, String token, float logprob, List<Integer> bytes) {

    /** A token of whole characters. */
    public TopLogprob(int id, String token, float logprob) {
      this(id, token, logprob, null);
    }
  }

  /**
   * One message of a branch's history as a query shows it; a Flink POJO.
   *
   * @param turn id of the message's turn; null for a system prompt
   * @param finishReason why the message ended if it is a reply, else null
   * @param metadata the turn's metadata if the message is a reply; may be null
   * @param order runs of a reply's parts as they were written; empty if reasoning came first, then
   *     content, then calls
   */
  public record Item(
      String turn,
      Message message,
      String finishReason,
      Map<String, String> metadata,
      List<PartLength> order) {

    public Item {
      order = order == null ? List.of() : List.copyOf(order);
    }

    /** Makes an item of a message that is not a reply. */
    public Item(String turn, Message message) {
      this(turn, message, null, null, List.of());
    }

    /** Makes an item of a text that is not a reply. */
    public Item(String turn, String role, String content) {
      this(turn, new Message(role, content));
    }

    /** Returns the role of the message's author. */
    public String role() {
      return message.role();
    }

    /** Returns the message's text; null if it only calls tools. */
    public String content() {
      return message.content();
    }
  }

  /**
   * One queued, running or ended turn as a query shows it; a Flink POJO.
   *
   * @param status {@code queued}, {@code running} or {@code done}
   * @param branch the turn's branch
   * @param previousTurn id of the turn before this one, empty for none; null if it is not known
   * @param created when the job accepted the turn, milliseconds since the epoch
   * @param completed when the turn ended, milliseconds since the epoch; 0 if it has not ended
   * @param metadata the event's metadata, or null
   * @param messages the turn's messages
   * @param text the reply's content so far, as deltas have shown it
   * @param logprobs log probabilities so far if the turn is running and asked for them, else null
   * @param finishReason lower case, if the turn is done; else null
   * @param stopReason the stop text that ended the reply, or null
   * @param usage token counts, so far if the turn is running; null before its first text
   * @param error why the turn failed, or null
   * @param reasoning the reasoning so far, as deltas have shown it, or null
   * @param toolCalls the tool calls so far, as deltas have shown them; empty for none
   * @param order runs of the parts as they were written; empty if reasoning came first, then
   *     content, then calls
   * @param options the turn's own generation options, or null
   */
  public record TurnState(
      String turn,
      String status,
      String branch,
      String previousTurn,
      long created,
      long completed,
      Map<String, String> metadata,
      List<Message> messages,
      String text,
      List<TokenLogprob> logprobs,
      String finishReason,
      String stopReason,
      Usage usage,
      ReplyError error,
      String reasoning,
      List<ToolCall> toolCalls,
      List<PartLength> order,
      GenerationOptions options) {

    public TurnState {
      toolCalls = toolCalls == null ? List.of() : List.copyOf(toolCalls);
      order = order == null ? List.of() : List.copyOf(order);
    }

    /** Creates the state of a turn whose reply has only content. */
    public TurnState(
        String turn,
        String status,
        String branch,
        String previousTurn,
        long created,
        long completed,
        Map<String, String> metadata,
        List<Message> messages,
        String text,
        List<TokenLogprob> logprobs,
        String finishReason,
        String stopReason,
        Usage usage,
        ReplyError error) {
      this(
          turn,
          status,
          branch,
          previousTurn,
          created,
          completed,
          metadata,
          messages,
          text,
          logprobs,
          finishReason,
          stopReason,
          usage,
          error,
          null,
          List.of(),
          List.of(),
          null);
    }

    /** Returns the assistant's message so far; its content is null if it only calls tools. */
    public Message reply() {
      return message(text, reasoning, toolCalls);
    }

    /**
     * Returns this state with a reply.
     *
     * @param order see {@link TurnState}
     */
    public TurnState with(Message reply, List<PartLength> order) {
      return copy(metadata, messages, reply, logprobs, error, order, options);
    }

    /** Returns this state with the turn's own options, which may be null. */
    public TurnState with(GenerationOptions options) {
      return copy(metadata, messages, reply(), logprobs, error, order, options);
    }

    /**
     * Returns this state without messages, log probabilities and options.
     *
     * @param shortened the error of the returned state, or null
     */
    public TurnState bare(ReplyError shortened) {
      return copy(metadata, null, reply(), null, shortened, order, null);
    }

    /** Returns this state without metadata, and with a text as its whole reply. */
    public TurnState onlyText(String text) {
      Message only = new Message("assistant", text);
      return copy(null, messages, only, logprobs, error, List.of(), options);
    }

    private TurnState copy(
        Map<String, String> metadata,
        List<Message> messages,
        Message reply,
        List<TokenLogprob> logprobs,
        ReplyError error,
        List<PartLength> order,
        GenerationOptions options) {
      return new TurnState(
          turn,
          status,
          branch,
          previousTurn,
          created,
          completed,
          metadata,
          messages,
          reply.content() == null ? "" : reply.content(),
          logprobs,
          finishReason,
          stopReason,
          usage,
          error,
          reply.reasoning(),
          reply.toolCalls(),
          order,
          options);
    }
  }
}
