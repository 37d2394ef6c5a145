package io.radixflow.gateway.responses;

import io.radixflow.gateway.api.TurnErrors;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.ReplyError;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** The errors of this API. Objects of another tenant are reported as missing. */
final class ResponseErrors {

  private ResponseErrors() {}

  /** The job's codes for objects that do not exist or belong to another tenant. */
  private static final Set<ErrorCode> ABSENT =
      EnumSet.of(
          ErrorCode.UNKNOWN_SESSION,
          ErrorCode.UNKNOWN_TURN,
          ErrorCode.UNKNOWN_BRANCH,
          ErrorCode.WRONG_TENANT,
          ErrorCode.SESSION_ENDED);

  /** Fields of an event that have another name in this API. */
  private static final Map<String, String> NAMES =
      Map.of(
          "response_format", "text",
          "structured_outputs", "text",
          "max_tokens", "max_output_tokens",
          "reasoning_effort", "reasoning",
          "messages", "input");

  /** Returns whether an error says that the caller has no such object. */
  static boolean isAbsent(ReplyError error) {
    return error != null && ABSENT.contains(error.code());
  }

  /**
   * Fails if an answer is a rejection. "Not found" does not count as a rejection: the answer is
   * then empty.
   *
   * @throws ApiException if the answer is a rejection
   */
  static void check(ReplyDelta answer) {
    ApiException error = TurnErrors.of(answer);
    if (error != null && !isAbsent(answer.error())) {
      throw error;
    }
  }

  /**
   * Returns the error of a turn that was rejected.
   *
   * @param previous the id of the response that the turn should follow, or null
   */
  static ApiException of(TurnEnd end, String previous) {
    if (previous != null && isAbsent(end.error())) {
      return noPrevious(previous);
    }
    ApiException error = TurnErrors.of(end, "input");
    String field = error == null ? null : error.param();
    return field == null ? error : error.with(NAMES.getOrDefault(field, field));
  }

  static ApiException noResponse(String id) {
    return ApiException.notFound("Response with id '" + shown(id) + "' not found.");
  }

  /** Returns the error of a missing conversation, which the path or the body names. */
  static ApiException noConversation(Exchange exchange, String id) {
    return ApiException.notFound("Conversation with id '" + shown(id) + "' not found.")
        .with(exchange.pathParameter("id") == null ? "conversation" : null);
  }

  static ApiException noItem(String id) {
    return ApiException.notFound("Item with id '" + shown(id) + "' not found.");
  }

  static ApiException noPrevious(String id) {
    return new ApiException(
        400,
        "invalid_request_error",
        "previous_response_not_found",
        "previous_response_id",
        "Previous response with id '" + shown(id) + "' not found.");
  }

  private static String shown(String id) {
    String plain = id.replaceAll("[^\\x20-\\x7e]", "?");
    return plain.length() <= 100 ? plain : plain.substring(0, 100) + "...";
  }
}
