package io.radixflow.gateway.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** The form of errors in an API. */
@FunctionalInterface
public interface ErrorFormat {

  /** OpenAI's form: an object {@code error} with message, type, param and code. */
  ErrorFormat OPENAI =
      error -> {
        ObjectNode json = Json.object();
        ObjectNode shown = json.putObject("error").put("message", message(error));
        shown.put("type", error.type()).put("param", error.param()).put("code", error.code());
        if (error.promptTokens() > 0) {
          shown.put("n_prompt_tokens", error.promptTokens()).put("n_ctx", error.contextWindow());
        }
        return json;
      };

  /**
   * Returns the message. Clients recognise a prompt that is too long by OpenAI's exact words, and
   * shorten the prompt.
   */
  private static String message(ApiException error) {
    return error.promptTokens() == 0
        ? error.getMessage()
        : "This model's maximum context length is %d tokens: %s"
            .formatted(error.contextWindow(), error.getMessage());
  }

  /** Returns the body of an error. */
  ObjectNode body(ApiException error);

  /** Returns the type of an error event in a stream; null for an event without a type. */
  default String event() {
    return null;
  }
}
