package io.radixflow.jobs.event;

import io.radixflow.jobs.json.Texts;
import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyError;
import java.io.Serializable;
import java.util.List;

/**
 * Writes replies as {@code schema/reply.schema.json} has them, within a size: a record that the
 * broker refuses would stop the job. A reply that is too large loses its log probabilities and
 * items first and the end of its text last; {@code truncated} names what is missing.
 */
public final class ReplyLimiter implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The least limit that holds any reply without its text: ids, usage and an error. */
  public static final int MIN_BYTES = 16 * 1024;

  private static final int MAX_ERROR = 512;

  private final int maxBytes;

  /**
   * @param maxBytes largest value; at least {@link #MIN_BYTES}
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
    byte[] bare = write(bare(reply, reply.text()), List.of("logprobs", "items"));
    if (bare.length <= maxBytes) {
      return bare;
    }
    String text = Texts.wellFormed(reply.text());
    // a UTF-16 unit takes at most 6 bytes in JSON
    int units = Math.min(text.length(), (maxBytes - MIN_BYTES) / 6);
    if (units > 0 && Character.isHighSurrogate(text.charAt(units - 1))) {
      units--;
    }
    return write(bare(reply, text.substring(0, units)), List.of("logprobs", "items", "content"));
  }

  private static Reply bare(Reply r, String text) {
    return r.toBuilder().text(text).logprobs(null).error(shortened(r.error())).items(null).build();
  }

  private static ReplyError shortened(ReplyError error) {
    return error == null || error.message().length() <= MAX_ERROR
        ? error
        : new ReplyError(error.code(), error.message().substring(0, MAX_ERROR));
  }

  private static byte[] write(Reply reply, List<String> truncated) {
    return JsonRecords.write(ReplyFields.of(reply, truncated));
  }
}
