package io.radixflow.gateway.messages;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.ErrorFormat;
import io.radixflow.gateway.http.Json;

/** Errors in Anthropic's form: {@code {type: error, error: {type, message}}}. */
final class AnthropicErrors implements ErrorFormat {

  @Override
  public ObjectNode body(ApiException error) {
    ObjectNode json = Json.object().put("type", "error");
    json.putObject("error").put("type", type(error.status())).put("message", message(error));
    return json;
  }

  /** Returns the message. Claude Code compacts its conversation when it reads these words. */
  private static String message(ApiException error) {
    return error.promptTokens() == 0
        ? error.getMessage()
        : "prompt is too long: %d tokens > %d maximum"
            .formatted(error.promptTokens(), error.contextWindow() - 1);
  }

  @Override
  public String event() {
    return "error";
  }

  private static String type(int status) {
    return switch (status) {
      case 401 -> "authentication_error";
      case 403 -> "permission_error";
      case 404 -> "not_found_error";
      case 413 -> "request_too_large";
      case 429 -> "rate_limit_error";
      case 503, 529 -> "overloaded_error";
      default -> status < 500 ? "invalid_request_error" : "api_error";
    };
  }
}
