package io.radixflow.gateway.responses;

import io.radixflow.gateway.turn.ReplyBlock;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFound;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.PartLength;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.Map;

/**
 * The state of a response at one moment. Immutable.
 *
 * @param session the session that has the turn
 * @param turn the turn's id
 * @param settings the settings of the request
 * @param instructions the system prompt of this turn, or null
 * @param metadata the client's own entries
 * @param options the options of generation; null if the request has none
 * @param output what the turn has produced
 */
record ResponseRecord(
    String session,
    String turn,
    ResponseSettings settings,
    String instructions,
    Map<String, String> metadata,
    GenerationOptions options,
    Output output) {

  /**
   * The output of a response.
   *
   * @param status the progress of the response
   * @param reply the reply so far
   * @param order order of the parts of the reply; see {@link ReplyBlock#of}
   * @param logprobs log probabilities of the tokens so far, or null
   * @param end the end of the turn; null before the end. Its warnings are not stored
   */
  record Output(
      Status status,
      Message reply,
      List<PartLength> order,
      List<TokenLogprob> logprobs,
      TurnEnd end) {

    /** Returns the output of a turn that has produced nothing. */
    static Output none(Status status) {
      return new Output(status, new Message("assistant", ""), List.of(), null, null);
    }

    /** Returns the output of a turn that has ended. */
    static Output ended(TurnEnd end, TurnMessage reply) {
      Status status = Status.of(end.finishReason());
      return new Output(status, reply.message(), reply.order(), reply.logprobs(), end);
    }

    /** Returns the status of the last output item. */
    String itemStatus() {
      return switch (status) {
        case COMPLETED -> "completed";
        case QUEUED, IN_PROGRESS -> "in_progress";
        default -> "incomplete";
      };
    }

    /** Returns why the response failed; null if it did not. */
    Failure failure() {
      if (status != Status.FAILED) {
        return null;
      }
      boolean tooLong =
          end.error() != null && end.error().code() == ErrorCode.CONTEXT_LENGTH_EXCEEDED;
      return new Failure(
          tooLong ? "context_length_exceeded" : "server_error",
          end.error() == null ? "the turn failed" : end.error().message());
    }
  }

  /** The progress of a response; lower case in JSON. */
  enum Status {
    QUEUED,
    IN_PROGRESS,
    COMPLETED,
    INCOMPLETE,
    CANCELLED,
    FAILED;

    /** Returns whether the response has ended. */
    boolean isFinal() {
      return this != QUEUED && this != IN_PROGRESS;
    }

    /** Returns the status of a turn that has not ended. */
    static Status ofRunning(String turn) {
      return turn.equals("queued") ? QUEUED : IN_PROGRESS;
    }

    /** Returns the status of an ended turn, by its reply's finish reason. */
    static Status of(String finishReason) {
      return switch (finishReason) {
        case "stop", "tool_calls" -> COMPLETED;
        case "length" -> INCOMPLETE;
        case "cancelled", "replaced" -> CANCELLED;
        default -> FAILED;
      };
    }
  }

  /** An error as a response shows it. */
  record Failure(String code, String message) {}

  /** Returns the response's id. */
  String id() {
    return ResponseIds.response(session, turn, settings.tag());
  }

  /** Returns whether the response has ended. */
  boolean isFinal() {
    return output.status.isFinal();
  }

  /**
   * Returns this response as it was when its request was first sent.
   *
   * @param found the turn of the first request
   */
  ResponseRecord firstSent(TurnFound found) {
    Map<String, String> kept = found.metadata() == null ? Map.of() : found.metadata();
    boolean known = kept.containsKey(ResponseSettings.KEY);
    return new ResponseRecord(
        session,
        found.turn(),
        known
            ? ResponseSettings.decoded(
                kept.get(ResponseSettings.KEY), settings.created(), settings.model())
            : settings,
        instructions,
        known ? Metadata.kept(kept).entries() : metadata,
        options,
        output);
  }

  /** Returns this response with its instructions. */
  ResponseRecord with(String system) {
    return new ResponseRecord(session, turn, settings, system, metadata, options, output);
  }

  /** Returns this response with another output. */
  ResponseRecord with(Output other) {
    return new ResponseRecord(session, turn, settings, instructions, metadata, options, other);
  }

  /** Returns this response as it was when it began. */
  ResponseRecord begun() {
    return at(settings.background() ? Status.QUEUED : Status.IN_PROGRESS);
  }

  /** Returns this response with a status and without any output. */
  ResponseRecord at(Status so) {
    return with(Output.none(so));
  }
}
