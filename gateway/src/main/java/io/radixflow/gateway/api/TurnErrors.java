package io.radixflow.gateway.api;

import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.ReplyError;
import java.util.List;
import java.util.Locale;

/** Converts the end of a turn to an error of the API. */
public final class TurnErrors {

  private static final int BUSY_SECONDS = 1;

  /** The job's error messages about a prompt begin with one of these texts. */
  private static final List<String> OF_PROMPT =
      List.of("the chat template ", "the last message ", "the prompt ", "token id ");

  private TurnErrors() {}

  /**
   * Returns the error of a turn that was rejected or failed, or null if the turn succeeded.
   *
   * @param prompt the request field that contains the prompt
   */
  public static ApiException of(TurnEnd end, String prompt) {
    return of(end.finishReason(), end.error(), prompt);
  }

  /** Returns the error in an answer of the job, or null if the job carried out the request. */
  public static ApiException of(ReplyDelta answer) {
    return of(answer.finishReason(), answer.error(), null);
  }

  private static ApiException of(String finishReason, ReplyError error, String prompt) {
    boolean served = !finishReason.equals("rejected") && !finishReason.equals("error");
    if (served || error == null) {
      return served ? null : of(ReplyError.failed("the job does not say why"), prompt);
    }
    return of(error, prompt);
  }

  /**
   * Returns the error. The error is the same for another tenant's session, a missing session and an
   * erased session.
   */
  private static ApiException of(ReplyError error, String prompt) {
    return switch (error.code()) {
      case WRONG_TENANT, UNKNOWN_SESSION, SESSION_ENDED ->
          ApiException.notFound("there is no such conversation, or it has ended");
      case UNKNOWN_TURN, UNKNOWN_BRANCH -> ApiException.notFound(error.message());
      case BUSY -> ApiException.busy("rate_limit_exceeded", error.message(), BUSY_SECONDS);
      case DRAINING -> ApiException.unavailable(error.message());
      case CONTEXT_LENGTH_EXCEEDED ->
          ApiException.tooLong(
              prompt, error.message(), error.promptTokens(), error.contextWindow());
      case FAILED -> new ApiException(500, "server_error", "failed", null, error.message());
      default ->
          new ApiException(
              400,
              "invalid_request_error",
              error.code().name().toLowerCase(Locale.ROOT),
              field(error.message(), prompt),
              error.message());
    };
  }

  /**
   * Returns the field that an error of the job is about; null if the error is not about a field.
   */
  private static String field(String message, String prompt) {
    if (message.startsWith("the function ") || message.startsWith("the parameter ")) {
      return "tools";
    }
    return OF_PROMPT.stream().anyMatch(message::startsWith) ? prompt : ApiException.field(message);
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
