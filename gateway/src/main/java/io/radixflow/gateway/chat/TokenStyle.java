package io.radixflow.gateway.chat;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.protocol.record.Reply.TopLogprob;
import java.io.IOException;
import java.util.List;

/**
 * The way in which a completion shows single tokens. The fields are vLLM's, and the job does not
 * read them.
 *
 * @param promptLogprobs whether to show the log probabilities of the prompt in vLLM's form
 * @param ids whether to show the token ids of the prompt and of the reply
 * @param asIds whether log probabilities name tokens by their ids
 */
record TokenStyle(boolean promptLogprobs, boolean ids, boolean asIds) {

  /** Reads the fields, and removes the fields that the job does not know. */
  static TokenStyle read(JsonObject body, ObjectNode raw) {
    boolean asIds = body.bool("return_tokens_as_token_ids", false);
    raw.remove("return_tokens_as_token_ids");
    Boolean untrimmed = body.bool("no_stop_trim");
    raw.remove("no_stop_trim");
    if (untrimmed != null && !body.has("include_stop_str_in_output")) {
      raw.put("include_stop_str_in_output", untrimmed); // SGLang's name
    }
    return new TokenStyle(body.has("prompt_logprobs"), body.bool("return_token_ids", false), asIds);
  }

  /** Returns the name of a token in log probabilities. */
  String name(int id, String text) {
    return asIds ? "token_id:" + id : text;
  }

  /** Writes vLLM's fields about a prompt, if the request asks for them. */
  void prompt(JsonGenerator json, PromptTokens prompt) throws IOException {
    if (prompt == null) {
      return;
    }
    if (promptLogprobs && prompt.logprobs() != null) {
      json.writeArrayFieldStart("prompt_logprobs");
      for (int i = 0; i < prompt.logprobs().size(); i++) {
        if (prompt.offset() + i == 0) {
          json.writeNull();
        } else {
          entry(json, prompt.logprobs().get(i));
        }
      }
      json.writeEndArray();
    }
    if (ids) {
      ids(json, "prompt_token_ids", prompt.ids());
    }
  }

  /** Writes the ids of a reply's tokens, if the request asks for them. */
  void generated(JsonGenerator json, List<Integer> generated) throws IOException {
    if (ids) {
      ids(json, "token_ids", generated);
    }
  }

  private static void ids(JsonGenerator json, String field, List<Integer> ids) throws IOException {
    json.writeArrayFieldStart(field);
    for (int id : ids) {
      json.writeNumber(id);
    }
    json.writeEndArray();
  }

  /** Writes a token and its alternatives by their ids. An unknown rank is null. */
  private static void entry(JsonGenerator json, TokenLogprob token) throws IOException {
    json.writeStartObject();
    int rank = 0;
    boolean named = false;
    for (TopLogprob top : token.top() == null ? List.<TopLogprob>of() : token.top()) {
      value(json, top.id(), top.token(), top.logprob(), ++rank);
      named |= top.id() == token.id();
    }
    if (!named) {
      value(json, token.id(), token.token(), token.logprob(), 0);
    }
    json.writeEndObject();
  }

  private static void value(JsonGenerator json, int id, String text, float logprob, int rank)
      throws IOException {
    json.writeObjectFieldStart(Integer.toString(id));
    json.writeNumberField("logprob", logprob);
    if (rank > 0) {
      json.writeNumberField("rank", rank);
    } else {
      json.writeNullField("rank");
    }
    json.writeStringField("decoded_token", text);
    json.writeEndObject();
  }
}
