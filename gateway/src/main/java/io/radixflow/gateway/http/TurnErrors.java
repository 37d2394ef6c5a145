package io.radixflow.gateway.http;

import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.operators.record.ReplyDelta;
import io.radixflow.operators.record.ReplyError;
import java.util.Locale;

/** Ends of turns as errors of the API. */
public final class TurnErrors {

  private static final int BUSY_SECONDS = 1;

  private TurnErrors() {}

  /** Returns the error of a turn that was rejected or failed, or null if it was served. */
  public static ApiException of(TurnEnd end) {
    return of(end.finishReason(), end.error());
  }

  /** Returns the error of an answer of the job, or null if it served what was asked. */
  public static ApiException of(ReplyDelta answer) {
    return of(answer.finishReason(), answer.error());
  }

  private static ApiException of(String finishReason, ReplyError error) {
    boolean served = !finishReason.equals("rejected") && !finishReason.equals("error");
    if (served || error == null) {
      return served ? null : of(ReplyError.failed("the job does not say why"));
    }
    return of(error);
  }

  /** A stranger's session, one that is not there, and one that was erased look alike. */
  private static ApiException of(ReplyError error) {
    return switch (error.code()) {
      case WRONG_TENANT, UNKNOWN_SESSION, SESSION_ENDED ->
          ApiException.notFound("there is no such conversation, or it has ended");
      case UNKNOWN_TURN, UNKNOWN_BRANCH -> ApiException.notFound(error.message());
      case BUSY -> ApiException.busy("rate_limit_exceeded", error.message(), BUSY_SECONDS);
      case DRAINING -> ApiException.unavailable(error.message());
      case CONTEXT_LENGTH_EXCEEDED ->
          ApiException.tooLong(error.message(), error.promptTokens(), error.contextWindow());
      case FAILED -> new ApiException(500, "server_error", "failed", null, error.message());
      default ->
          new ApiException(
              400,
              "invalid_request_error",
              error.code().name().toLowerCase(Locale.ROOT),
              null,
              error.message());
    };
  }

  /** Returns the error of a turn that can no longer be followed. */
  public static ApiException of(TurnFailure failure) {
    return switch (failure.reason()) {
      case KEY_REUSED ->
          new ApiException(
              422, "invalid_request_error", "idempotency_key_reused", null, failure.message());
      case BUSY -> ApiException.busy("rate_limit_exceeded", failure.message(), BUSY_SECONDS);
      case TOO_SLOW, UNAVAILABLE -> ApiException.unavailable(failure.message());
    };
  }
}
