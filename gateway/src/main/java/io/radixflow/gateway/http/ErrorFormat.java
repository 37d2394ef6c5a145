package io.radixflow.gateway.http;

/** The form of errors in an API. */
@FunctionalInterface
public interface ErrorFormat {

  /** OpenAI's form: an object {@code error} with message, type, param and code. */
  ErrorFormat OPENAI =
      error ->
          Json.write(
              json -> {
                json.writeObjectFieldStart("error");
                json.writeStringField("message", message(error));
                json.writeStringField("type", error.type());
                json.writeStringField("param", error.param());
                json.writeStringField("code", error.code());
                if (error.promptTokens() > 0) {
                  json.writeNumberField("n_prompt_tokens", error.promptTokens());
                  json.writeNumberField("n_ctx", error.contextWindow());
                }
                json.writeEndObject();
              });

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

  /** Returns the body of an error, a JSON object. */
  byte[] body(ApiException error);

  /** Returns the type of an error event in a stream; null for an event without a type. */
  default String event() {
    return null;
  }
}
