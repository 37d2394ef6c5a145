package io.radixflow.protocol.record;

import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.List;
import java.util.Map;

/** Puts a {@link Reply} together; each method sets the component of its name. */
public final class ReplyBuilder {
  private final String session;
  private final String branch;
  private final String turn;
  private final EventKind kind;
  private long attempt;
  private String text = "";
  private String finishReason = "stop";
  private String stopReason;
  private Usage usage = Usage.NONE;
  private long seed;
  private int droppedTurns;
  private List<Reply.TokenLogprob> logprobs;
  private ReplyError error;
  private List<Reply.Item> items;
  private String status;
  private long created;
  private Map<String, String> metadata;
  private Reply.TurnState turnState;
  private TraceContext trace;
  private Reply.Pages pages;
  private String reasoning;
  private List<ToolCall> toolCalls = List.of();
  private List<PartLength> order = List.of();
  private Integer stopToken;
  private List<Integer> tokenIds;
  private PromptTokens prompt;
  private List<String> warnings;

  ReplyBuilder(String session, String branch, String turn, EventKind kind) {
    this.session = session;
    this.branch = branch;
    this.turn = turn;
    this.kind = kind;
  }

  public ReplyBuilder attempt(long attempt) {
    this.attempt = attempt;
    return this;
  }

  public ReplyBuilder text(String text) {
    this.text = text;
    return this;
  }

  public ReplyBuilder finishReason(String finishReason) {
    this.finishReason = finishReason;
    return this;
  }

  public ReplyBuilder stopReason(String stopReason) {
    this.stopReason = stopReason;
    return this;
  }

  public ReplyBuilder usage(Usage usage) {
    this.usage = usage;
    return this;
  }

  public ReplyBuilder seed(long seed) {
    this.seed = seed;
    return this;
  }

  public ReplyBuilder droppedTurns(int droppedTurns) {
    this.droppedTurns = droppedTurns;
    return this;
  }

  public ReplyBuilder logprobs(List<Reply.TokenLogprob> logprobs) {
    this.logprobs = logprobs;
    return this;
  }

  public ReplyBuilder error(ReplyError error) {
    this.error = error;
    return this;
  }

  public ReplyBuilder items(List<Reply.Item> items) {
    this.items = items;
    return this;
  }

  public ReplyBuilder status(String status) {
    this.status = status;
    return this;
  }

  public ReplyBuilder created(long created) {
    this.created = created;
    return this;
  }

  public ReplyBuilder metadata(Map<String, String> metadata) {
    this.metadata = metadata;
    return this;
  }

  public ReplyBuilder turnState(Reply.TurnState turnState) {
    this.turnState = turnState;
    return this;
  }

  public ReplyBuilder trace(TraceContext trace) {
    this.trace = trace;
    return this;
  }

  public ReplyBuilder pages(Reply.Pages pages) {
    this.pages = pages;
    return this;
  }

  public ReplyBuilder reasoning(String reasoning) {
    this.reasoning = reasoning;
    return this;
  }

  public ReplyBuilder toolCalls(List<ToolCall> toolCalls) {
    this.toolCalls = toolCalls;
    return this;
  }

  public ReplyBuilder order(List<PartLength> order) {
    this.order = order;
    return this;
  }

  public ReplyBuilder stopToken(Integer stopToken) {
    this.stopToken = stopToken;
    return this;
  }

  public ReplyBuilder tokenIds(List<Integer> tokenIds) {
    this.tokenIds = tokenIds;
    return this;
  }

  public ReplyBuilder prompt(PromptTokens prompt) {
    this.prompt = prompt;
    return this;
  }

  public ReplyBuilder warnings(List<String> warnings) {
    this.warnings = warnings;
    return this;
  }

  /** Sets text, reasoning and calls from a message. */
  public ReplyBuilder message(Message message) {
    return text(message.content() == null ? "" : message.content())
        .reasoning(message.reasoning())
        .toolCalls(message.toolCalls());
  }

  public Reply build() {
    return new Reply(
        session,
        branch,
        turn,
        kind,
        attempt,
        text,
        finishReason,
        stopReason,
        usage,
        seed,
        droppedTurns,
        logprobs,
        error,
        items,
        status,
        created,
        metadata,
        turnState,
        trace,
        pages,
        reasoning,
        toolCalls,
        order,
        stopToken,
        tokenIds,
        prompt,
        warnings);
  }
}
