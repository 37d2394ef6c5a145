package io.radixflow.gateway.http;

import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;

/** Ends of turns as errors of the API. */
public final class TurnErrors {

  private TurnErrors() {}

  /** Returns the error of a turn that was rejected or failed, or null if it was served. */
  public static ApiException of(TurnEnd end) {
    return switch (end.finishReason()) {
      case "rejected" -> ApiException.badRequest(null, end.error());
      case "error" -> new ApiException(500, "server_error", "failed", null, end.error());
      default -> null;
    };
  }

  /** Returns the error of a turn that can no longer be followed. */
  public static ApiException of(TurnFailure failure) {
    return ApiException.unavailable(failure.message());
  }
}
