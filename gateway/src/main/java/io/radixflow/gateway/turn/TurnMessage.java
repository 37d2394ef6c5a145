package io.radixflow.gateway.turn;

import io.radixflow.client.TurnPart;
import io.radixflow.protocol.record.PartLength;
import io.radixflow.protocol.record.PartOrder;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.List;

/** Joins the pieces of a reply into its message. */
public final class TurnMessage {

  private final StringBuilder content = new StringBuilder();
  private final StringBuilder reasoning = new StringBuilder();
  private final List<Call> calls = new ArrayList<>();
  private final PartOrder order = new PartOrder();
  private final List<TokenLogprob> logprobs = new ArrayList<>();
  private final List<PromptTokens> prompt = new ArrayList<>();
  private final List<Integer> ids = new ArrayList<>();

  private static final class Call {
    private final String id;
    private final StringBuilder name = new StringBuilder();
    private final StringBuilder arguments = new StringBuilder();

    Call(String id) {
      this.id = id;
    }
  }

  public void add(TurnPiece piece) {
    TurnPart part = piece.part();
    String text = piece.text();
    order.add(part.kind(), part.index(), text.codePointCount(0, text.length()));
    if (part.isContent()) {
      content.append(piece.text());
    } else if (part.isReasoning()) {
      reasoning.append(piece.text());
    } else {
      while (calls.size() <= part.index()) {
        calls.add(new Call(part.id()));
      }
      Call call = calls.get(part.index());
      (part.opensCall() ? call.name : call.arguments).append(piece.text());
    }
    logprobs.addAll(piece.logprobs());
    ids.addAll(piece.ids());
    if (piece.prompt() != null) {
      prompt.add(piece.prompt());
    }
  }

  /** Returns the content; empty if there is none. */
  public String content() {
    return content.toString();
  }

  /** Returns the reasoning before the reply; empty if there is none. */
  public String reasoning() {
    return reasoning.toString();
  }

  /** Returns the calls in order; empty if there are none. */
  public List<ToolCall> calls() {
    return calls.stream()
        .map(call -> new ToolCall(call.id, call.name.toString(), call.arguments.toString()))
        .toList();
  }

  /** Returns the message. Its content is null if there are only calls. */
  public Message message() {
    boolean onlyCalls = content.isEmpty() && !calls.isEmpty();
    return new Message(
        "assistant",
        onlyCalls ? null : content(),
        null,
        calls(),
        null,
        reasoning.isEmpty() ? null : reasoning());
  }

  /** Returns the order of the parts; empty for the usual order: reasoning, content, calls. */
  public List<PartLength> order() {
    return order.runs();
  }

  /** Returns the prompt's tokens; null if the turn did not ask for them. */
  public PromptTokens prompt() {
    return PromptTokens.joined(prompt);
  }

  /** Returns the ids of the reply's tokens; empty if the turn did not ask for them. */
  public List<Integer> ids() {
    return ids;
  }

  public List<TokenLogprob> logprobs() {
    return logprobs;
  }
}
