package io.radixflow.protocol.topic;

import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyError;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes replies in the form of {@code schema/reply.schema.json}, within a size limit, because a
 * record that the broker refuses would stop the job. A reply that is too large loses its log
 * probabilities, items, messages and options first, and its metadata, reasoning, calls and the end
 * of its text last; {@code truncated} names the missing fields.
 */
public final class ReplyLimiter implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The smallest limit. Every reply without its text fits in it: ids, usage and an error. */
  public static final int MIN_BYTES = 16 * 1024;

  private static final int MAX_ERROR = 512;

  private final int maxBytes;

  /**
   * @param maxBytes the largest value in bytes; at least {@link #MIN_BYTES}
   */
  public ReplyLimiter(int maxBytes) {
    if (maxBytes < MIN_BYTES) {
      throw new IllegalArgumentException("at least " + MIN_BYTES + " bytes, not " + maxBytes);
    }
    this.maxBytes = maxBytes;
  }

  /** The record's value. */
  public byte[] write(Reply reply) {
    byte[] whole = write(reply, null);
    if (whole.length <= maxBytes) {
      return whole;
    }
    List<String> missing = new ArrayList<>(List.of("logprobs", "items", "messages"));
    Reply.TurnState state = reply.turnState();
    if (state != null && state.options() != null) {
      missing.add("options");
    }
    if (reply.tokenIds() != null) {
      missing.add("token_ids");
    }
    if (reply.prompt() != null) {
      missing.add("prompt");
    }
    if (reply.warnings() != null) {
      missing.add("warnings");
    }
    byte[] bare = write(bare(reply), missing);
    if (bare.length <= maxBytes) {
      return bare;
    }
    missing.addAll(List.of("metadata", "content"));
    if (reply.reasoning() != null || state != null && state.reasoning() != null) {
      missing.add("reasoning_content");
    }
    if (!reply.toolCalls().isEmpty() || state != null && !state.toolCalls().isEmpty()) {
      missing.add("tool_calls");
    }
    return write(cut(bare(reply)), missing);
  }

  /**
   * Writes a reply within a limit that may be below {@link #MIN_BYTES}: the reply is cut, or
   * replaced by an error.
   *
   * @param most the most bytes of the value
   * @param why the message of the error, which says what to do
   * @return null if not even the error fits
   */
  public static byte[] writeWithin(Reply reply, int most, String why) {
    if (most >= MIN_BYTES) {
      return new ReplyLimiter(most).write(reply);
    }
    byte[] error =
        write(
            Reply.builder(reply.session(), reply.branch(), reply.turn(), reply.kind())
                .attempt(reply.attempt())
                .created(reply.created())
                .finishReason("error")
                .error(ReplyError.failed(why))
                .build(),
            null);
    return error.length <= most ? error : null;
  }

  private static Reply bare(Reply reply) {
    Reply.TurnState state = reply.turnState();
    return reply.toBuilder()
        .logprobs(null)
        .tokenIds(null)
        .prompt(null)
        .warnings(null)
        .error(shortened(reply.error()))
        .items(null)
        .turnState(state == null ? null : state.bare(shortened(state.error())))
        .build();
  }

  /** Cuts the texts of a bare reply, of which only one can be long. */
  private Reply cut(Reply reply) {
    Reply.TurnState state = reply.turnState();
    return reply.toBuilder()
        .text(cut(reply.text()))
        .reasoning(null)
        .toolCalls(List.of())
        .order(List.of())
        .metadata(null)
        .turnState(state == null ? null : state.onlyText(cut(state.text())))
        .build();
  }

  private String cut(String text) {
    String fixed = Texts.wellFormed(text);
    // a UTF-16 unit takes at most 6 bytes in JSON
    int units = Math.min(fixed.length(), (maxBytes - MIN_BYTES) / 6);
    if (units > 0 && Character.isHighSurrogate(fixed.charAt(units - 1))) {
      units--;
    }
    return fixed.substring(0, units);
  }

  static ReplyError shortened(ReplyError error) {
    return error == null || error.message().length() <= MAX_ERROR
        ? error
        : new ReplyError(
            error.code(),
            error.message().substring(0, MAX_ERROR),
            error.promptTokens(),
            error.contextWindow());
  }

  private static byte[] write(Reply reply, List<String> truncated) {
    return JsonRecords.write(ReplyFields.of(reply, truncated));
  }
}
