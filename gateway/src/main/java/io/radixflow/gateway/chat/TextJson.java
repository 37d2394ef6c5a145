package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.client.TurnPart;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.text.TokenText;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.protocol.record.Reply.TopLogprob;
import java.util.ArrayList;
import java.util.List;

/** Writes completions of prompts. */
final class TextJson extends CompletionJson {

  private final TextRequest request;
  private final TokenStyle style;

  /** Number of code points of each choice's prompt written so far. */
  private final int[] echoed;

  TextJson(String id, long created, String model, TextRequest request) {
    super(id, created, model, "text_completion", "text_completion", request.choicesOfPrompt());
    this.request = request;
    this.style = request.style();
    this.echoed = new int[request.choices()];
  }

  @Override
  public String promptField() {
    return "prompt";
  }

  @Override
  ObjectNode message(int index, TurnMessage reply) {
    PromptTokens prompt = reply.prompt();
    String text = request.prompt(index).text();
    String echo = !request.echo() ? "" : text != null ? text : textOf(prompt);
    ObjectNode choice = Json.object().put("text", echo + reply.content());
    return withTokens(choice, index, 0, prompt, reply.logprobs(), reply.ids());
  }

  /** If the job does not send the prompt's tokens, the text of the prompt is a separate piece. */
  @Override
  ObjectNode opening(int choice, TurnPart part) {
    if (!request.echo() || request.echoesTokens(choice)) {
      return null;
    }
    String echo = request.prompt(choice).text();
    echoed[choice] = echo.codePointCount(0, echo.length());
    return chunk(choice, Json.object().put("text", echo).putNull("logprobs"), null);
  }

  @Override
  ObjectNode delta(int index, TurnPiece next) {
    PromptTokens prompt = next.prompt();
    String text = (request.echo() ? textOf(prompt) : "") + next.text();
    ObjectNode choice = Json.object().put("text", text);
    return withTokens(choice, index, next.offset(), prompt, next.logprobs(), next.ids());
  }

  private static String textOf(PromptTokens prompt) {
    return prompt == null ? "" : prompt.text();
  }

  private ObjectNode withTokens(
      ObjectNode choice,
      int index,
      int offset,
      PromptTokens prompt,
      List<TokenLogprob> reply,
      List<Integer> ids) {
    choice.set("logprobs", logprobs(index, offset, prompt, reply));
    style.addPrompt(choice, prompt);
    style.addIds(choice, ids);
    return choice;
  }

  /**
   * Returns the log probabilities of the tokens of the reply, and of the prompt if it is echoed.
   *
   * @param offset code points of the reply before its tokens
   */
  private JsonNode logprobs(int index, int offset, PromptTokens prompt, List<TokenLogprob> reply) {
    List<TokenLogprob> tokens = new ArrayList<>();
    boolean echoes = request.echo() && request.logprobs() && prompt != null;
    if (echoes && prompt.logprobs() != null) {
      tokens.addAll(prompt.logprobs());
    }
    int echoedTokens = tokens.size();
    boolean begins = echoedTokens > 0 && prompt.offset() == 0;
    tokens.addAll(reply);
    if (tokens.isEmpty()) {
      return NullNode.instance;
    }
    ObjectNode json = Json.object();
    ArrayNode names = json.putArray("tokens");
    ArrayNode logprobs = json.putArray("token_logprobs");
    ArrayNode top = json.putArray("top_logprobs");
    ArrayNode offsets = json.putArray("text_offset");
    int at = echoed[index];
    for (int i = 0; i < tokens.size(); i++) {
      TokenLogprob token = tokens.get(i);
      names.add(name(token));
      if (i == 0 && begins) {
        logprobs.addNull();
        top.addNull();
      } else {
        logprobs.add(token.logprob());
        top.add(alternatives(token));
      }
      if (i == echoedTokens) {
        echoed[index] = at;
        at += offset;
      }
      offsets.add(TokenText.goesOn(token.bytes()) ? at - 1 : at);
      at += TokenText.begun(token.token(), token.bytes());
    }
    if (tokens.size() == echoedTokens) {
      echoed[index] = at;
    }
    return json;
  }

  /**
   * Returns the token itself and then the most probable tokens. Clients of OpenAI's API expect the
   * token even without alternatives. Several tokens may have the same text, but an object has each
   * name once.
   */
  private ObjectNode alternatives(TokenLogprob token) {
    ObjectNode json = Json.object().put(name(token), token.logprob());
    for (TopLogprob top : token.top() == null ? List.<TopLogprob>of() : token.top()) {
      String name = style.name(top.id(), TokenText.legacy(top.token(), top.bytes()));
      if (!json.has(name)) {
        json.put(name, top.logprob());
      }
    }
    return json;
  }

  private String name(TokenLogprob token) {
    return style.name(token.id(), TokenText.legacy(token.token(), token.bytes()));
  }
}
