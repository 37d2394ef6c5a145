package io.radixflow.protocol.record;

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
 * @param stopReason the stop text that ended it, or null
 * @param usage its counts of tokens
 * @param seed the seed used
 * @param droppedTurns turns that were dropped from the prompt to fit the context window
 * @param logprobs one entry a token, or null
 * @param error why it is rejected or failed, or null
 * @param items {@code query}: the branch's items, else null
 * @param status {@code query}: the slot's state, else null
 * @param created milliseconds since the epoch
 * @param metadata its event's, or null
 * @param turnState {@code query} of a turn: its state, else null
 * @param trace the trace that its event belongs to, or null; a header of its record
 * @param pages {@code query} of an open session: where its pages are, else null
 * @param reasoning what the model thought before it replied, or null
 * @param toolCalls calls of tools, in order; empty for none
 * @param order runs of the parts as they were written; empty if reasoning came first, then content,
 *     then calls
 * @param stopToken the stop token that ended it, or null
 * @param tokenIds ids of its tokens, if asked for; else null
 * @param prompt tokens of its prompt, if asked for; else null
 * @param warnings constraints of its event that the reply may violate; null for none
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

  /** Returns what the assistant said; its content is null if there are only calls. */
  public Message message() {
    return message(text, reasoning, toolCalls);
  }

  private static Message message(String text, String reasoning, List<ToolCall> toolCalls) {
    boolean none = text == null || text.isEmpty();
    String empty = toolCalls.isEmpty() ? "" : null;
    return new Message("assistant", none ? empty : text, null, toolCalls, null, reasoning);
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
   * @param committedTokens tokens of its whole pages, wherever these are
   * @param tokens of those, where they are
   * @param lastUsed when a turn last used them, milliseconds since the epoch; 0 if not known
   * @param asOf when they were there, milliseconds since the epoch; 0 if not known
   */
  public record Pages(int committedTokens, TierTokens tokens, long lastUsed, long asOf) {}

  /**
   * One generated token with its log probabilities; a Flink POJO.
   *
   * @param token its text, with U+FFFD for parts of characters
   * @param bytes of a token whose text does not have them all, 0 to 255; else null
   */
  public record TokenLogprob(
      int id, String token, float logprob, List<TopLogprob> top, List<Integer> bytes) {

    /** A token of whole characters. */
    public TokenLogprob(int id, String token, float logprob, List<TopLogprob> top) {
      this(id, token, logprob, top, null);
    }
  }

  /**
   * One alternative; a Flink POJO.
   *
   * @param token its text, with U+FFFD for parts of characters
   * @param bytes of a token whose text does not have them all, 0 to 255; else null
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
   * @param turn id of its turn; null for a system prompt
   * @param finishReason of a reply, else null
   * @param metadata of a reply: its turn's, or null
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

    /** Returns who says it. */
    public String role() {
      return message.role();
    }

    /** Returns its text; null if it only has calls of tools. */
    public String content() {
      return message.content();
    }
  }

  /**
   * One turn as a query shows it, wherever it is; a Flink POJO.
   *
   * @param status {@code queued}, {@code running} or {@code done}
   * @param branch the branch that it is on
   * @param previousTurn id of the turn that it follows, empty for none; null if that is not known
   * @param created when it was accepted, milliseconds since the epoch
   * @param completed when it ended, milliseconds since the epoch; 0 before
   * @param metadata its sender's, or null
   * @param messages its messages
   * @param text what deltas have shown of its reply's content so far, from its beginning
   * @param logprobs of the tokens so far, if it runs and asked for them; else null
   * @param finishReason lower case, if it is done; else null
   * @param stopReason the stop text that ended it, or null
   * @param usage its counts of tokens, so far if it is running; null before its first text
   * @param error why it failed, or null
   * @param reasoning what deltas have shown of its reasoning so far, or null
   * @param toolCalls what deltas have shown of its calls so far; empty for none
   * @param order runs of the parts as they were written; empty if reasoning came first, then
   *     content, then calls
   * @param options its own generation options, or null
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

    /** The state of a turn whose reply is content alone. */
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

    /** Returns what the assistant said so far; its content is null if there are only calls. */
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
     * @param shortened its error, or null
     */
    public TurnState bare(ReplyError shortened) {
      return copy(metadata, null, reply(), null, shortened, order, null);
    }

    /** Returns this state without metadata, and with a text alone as its reply. */
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
