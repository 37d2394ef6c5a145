package io.radixflow.gateway.chat;

import com.fasterxml.jackson.core.JsonGenerator;
import io.radixflow.client.TurnPart;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.text.TokenText;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.protocol.record.Reply.TopLogprob;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

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
  void message(JsonGenerator json, int index, TurnMessage reply) throws IOException {
    PromptTokens prompt = reply.prompt();
    String text = request.prompt(index).text();
    String echo = !request.echo() ? "" : text != null ? text : textOf(prompt);
    json.writeStringField("text", echo + reply.content());
    logprobs(json, index, 0, prompt, reply.logprobs());
    style.prompt(json, prompt);
    style.generated(json, reply.ids());
  }

  /** If the job does not send the prompt's tokens, the text of the prompt is a separate piece. */
  @Override
  byte[] opening(int choice, TurnPart part, Json.Fields usage) {
    if (!request.echo() || request.echoesTokens(choice)) {
      return null;
    }
    String echo = request.prompt(choice).text();
    echoed[choice] = echo.codePointCount(0, echo.length());
    return chunk(
        choice,
        json -> {
          json.writeStringField("text", echo);
          json.writeNullField("logprobs");
        },
        null,
        null,
        usage,
        null);
  }

  @Override
  void delta(JsonGenerator json, int index, TurnPiece next) throws IOException {
    PromptTokens prompt = next.prompt();
    json.writeStringField("text", (request.echo() ? textOf(prompt) : "") + next.text());
    logprobs(json, index, next.offset(), prompt, next.logprobs());
    style.prompt(json, prompt);
    style.generated(json, next.ids());
  }

  private static String textOf(PromptTokens prompt) {
    return prompt == null ? "" : prompt.text();
  }

  /**
   * Writes the log probabilities of the tokens of the reply, and of the prompt if it is echoed.
   *
   * @param offset code points of the reply before its tokens
   */
  private void logprobs(
      JsonGenerator json, int index, int offset, PromptTokens prompt, List<TokenLogprob> reply)
      throws IOException {
    List<TokenLogprob> tokens = new ArrayList<>();
    boolean echoes = request.echo() && request.logprobs() && prompt != null;
    if (echoes && prompt.logprobs() != null) {
      tokens.addAll(prompt.logprobs());
    }
    int echoedTokens = tokens.size();
    boolean begins = echoedTokens > 0 && prompt.offset() == 0;
    tokens.addAll(reply);
    if (tokens.isEmpty()) {
      json.writeNullField("logprobs");
      return;
    }
    json.writeObjectFieldStart("logprobs");
    json.writeArrayFieldStart("tokens");
    for (TokenLogprob token : tokens) {
      json.writeString(name(token));
    }
    json.writeEndArray();
    json.writeArrayFieldStart("token_logprobs");
    for (int i = 0; i < tokens.size(); i++) {
      if (i == 0 && begins) {
        json.writeNull();
      } else {
        json.writeNumber(tokens.get(i).logprob());
      }
    }
    json.writeEndArray();
    json.writeArrayFieldStart("top_logprobs");
    for (int i = 0; i < tokens.size(); i++) {
      if (i == 0 && begins) {
        json.writeNull();
      } else {
        alternatives(json, tokens.get(i));
      }
    }
    json.writeEndArray();
    json.writeArrayFieldStart("text_offset");
    int at = echoed[index];
    for (int i = 0; i < tokens.size(); i++) {
      if (i == echoedTokens) {
        echoed[index] = at;
        at += offset;
      }
      TokenLogprob token = tokens.get(i);
      json.writeNumber(TokenText.goesOn(token.bytes()) ? at - 1 : at);
      at += TokenText.begun(token.token(), token.bytes());
    }
    if (tokens.size() == echoedTokens) {
      echoed[index] = at;
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  /**
   * Writes the token itself and then the most probable tokens. Clients of OpenAI's API expect the
   * token even without alternatives. Several tokens may have the same text, but an object has each
   * name once.
   */
  private void alternatives(JsonGenerator json, TokenLogprob token) throws IOException {
    json.writeStartObject();
    String own = name(token);
    json.writeNumberField(own, token.logprob());
    Set<String> names = new HashSet<>(Set.of(own));
    for (TopLogprob top : token.top() == null ? List.<TopLogprob>of() : token.top()) {
      String name = style.name(top.id(), TokenText.legacy(top.token(), top.bytes()));
      if (names.add(name)) {
        json.writeNumberField(name, top.logprob());
      }
    }
    json.writeEndObject();
  }

  private String name(TokenLogprob token) {
    return style.name(token.id(), TokenText.legacy(token.token(), token.bytes()));
  }
}
