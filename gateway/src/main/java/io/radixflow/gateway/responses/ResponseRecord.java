package io.radixflow.gateway.responses;

import io.radixflow.gateway.turn.ReplyBlock;
import io.radixflow.gateway.turn.TurnFound;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.PartLength;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.protocol.record.Usage;
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
 * @param status the progress of the response
 * @param completed when the response ended, in seconds since the epoch; 0 before its end
 * @param options the options of generation; null if the request has none
 * @param reply the reply so far
 * @param order order of the parts of the reply; see {@link ReplyBlock#of}
 * @param logprobs log probabilities of the tokens so far, or null
 * @param usage counts of tokens; null before the end
 * @param failure why the response failed, or null
 * @param warnings constraints of the request that the reply may not follow; known when the response
 *     ends, and not stored
 */
record ResponseRecord(
    String session,
    String turn,
    ResponseSettings settings,
    String instructions,
    Map<String, String> metadata,
    Status status,
    long completed,
    GenerationOptions options,
    Message reply,
    List<PartLength> order,
    List<TokenLogprob> logprobs,
    Usage usage,
    Failure failure,
    List<String> warnings) {

  /** Creates a response without warnings. */
  ResponseRecord(
      String session,
      String turn,
      ResponseSettings settings,
      String instructions,
      Map<String, String> metadata,
      Status status,
      long completed,
      GenerationOptions options,
      Message reply,
      List<PartLength> order,
      List<TokenLogprob> logprobs,
      Usage usage,
      Failure failure) {
    this(
        session,
        turn,
        settings,
        instructions,
        metadata,
        status,
        completed,
        options,
        reply,
        order,
        logprobs,
        usage,
        failure,
        List.of());
  }

  /** The reply of a response that has none yet. */
  static final Message NOTHING = new Message("assistant", "");

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

  /** Returns this response with log probabilities of its tokens. */
  ResponseRecord with(List<TokenLogprob> tokens) {
    return new ResponseRecord(
        session,
        turn,
        settings,
        instructions,
        metadata,
        status,
        completed,
        options,
        reply,
        order,
        tokens,
        usage,
        failure,
        warnings);
  }

  /** Returns the status of the response's last output item. */
  String itemStatus() {
    return switch (status) {
      case COMPLETED -> "completed";
      case QUEUED, IN_PROGRESS -> "in_progress";
      default -> "incomplete";
    };
  }

  /**
   * Returns this response as it was when its request was first sent.
   *
   * @param found the turn of the first request
   */
  ResponseRecord firstSent(TurnFound found) {
    Map<String, String> kept = found.metadata() == null ? Map.of() : found.metadata();
    ResponseSettings first =
        kept.containsKey(ResponseSettings.KEY)
            ? ResponseSettings.decoded(
                kept.get(ResponseSettings.KEY), settings.created(), settings.model())
            : settings;
    return new ResponseRecord(
        session,
        found.turn(),
        first,
        instructions,
        kept.containsKey(ResponseSettings.KEY) ? Metadata.kept(kept).entries() : metadata,
        status,
        completed,
        options,
        reply,
        order,
        logprobs,
        usage,
        failure);
  }

  /** Returns this response with its instructions. */
  ResponseRecord with(String system) {
    return new ResponseRecord(
        session, turn, settings, system, metadata, status, completed, options, reply, order,
        logprobs, usage, failure);
  }

  /** Returns this response with its warnings. */
  ResponseRecord warned(List<String> notHeldTo) {
    return new ResponseRecord(
        session,
        turn,
        settings,
        instructions,
        metadata,
        status,
        completed,
        options,
        reply,
        order,
        logprobs,
        usage,
        failure,
        notHeldTo);
  }

  /** Returns this response as it was when it began. */
  ResponseRecord begun() {
    Status first = settings.background() ? Status.QUEUED : Status.IN_PROGRESS;
    return at(first);
  }

  /** Returns this response with a status and without any output. */
  ResponseRecord at(Status so) {
    return new ResponseRecord(
        session,
        turn,
        settings,
        instructions,
        metadata,
        so,
        0,
        options,
        NOTHING,
        List.of(),
        null,
        null,
        null);
  }

  /** Returns this response with the end of its turn. */
  ResponseRecord ended(
      Status end,
      long when,
      Message whole,
      List<PartLength> parts,
      List<TokenLogprob> tokens,
      Usage counts,
      Failure why) {
    return new ResponseRecord(
        session,
        turn,
        settings,
        instructions,
        metadata,
        end,
        when,
        options,
        whole,
        parts,
        tokens,
        counts,
        why);
  }
}
