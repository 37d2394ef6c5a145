package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.protocol.record.Reply.TopLogprob;
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

  /** Adds vLLM's fields about a prompt, if the request asks for them. */
  void addPrompt(ObjectNode json, PromptTokens prompt) {
    if (prompt == null) {
      return;
    }
    if (promptLogprobs && prompt.logprobs() != null) {
      ArrayNode logprobs = json.putArray("prompt_logprobs");
      for (int i = 0; i < prompt.logprobs().size(); i++) {
        if (prompt.offset() + i == 0) {
          logprobs.addNull();
        } else {
          logprobs.add(byId(prompt.logprobs().get(i)));
        }
      }
    }
    addIds(json, "prompt_token_ids", prompt.ids());
  }

  /** Adds the ids of a reply's tokens, if the request asks for them. */
  void addIds(ObjectNode json, List<Integer> generated) {
    addIds(json, "token_ids", generated);
  }

  private void addIds(ObjectNode json, String field, List<Integer> given) {
    if (ids) {
      given.forEach(json.putArray(field)::add);
    }
  }

  /** Returns a token and its alternatives by their ids. An unknown rank is null. */
  private static ObjectNode byId(TokenLogprob token) {
    ObjectNode json = Json.object();
    int rank = 0;
    for (TopLogprob top : token.top() == null ? List.<TopLogprob>of() : token.top()) {
      add(json, top.id(), top.token(), top.logprob(), ++rank);
    }
    if (!json.has(Integer.toString(token.id()))) {
      add(json, token.id(), token.token(), token.logprob(), null);
    }
    return json;
  }

  private static void add(ObjectNode json, int id, String text, float logprob, Integer rank) {
    ObjectNode one = json.putObject(Integer.toString(id)).put("logprob", logprob);
    one.put("rank", rank).put("decoded_token", text);
  }
}
