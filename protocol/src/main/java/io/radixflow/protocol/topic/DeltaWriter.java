package io.radixflow.protocol.topic;

import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Writes deltas in the form of {@code schema/reply-delta.schema.json}. */
public final class DeltaWriter {

  /**
   * The most bytes of an answer. A longer answer loses its items, like a reply that is cut to this
   * limit. By default the delta topic accepts records of one megabyte.
   */
  static final int MAX_ANSWER_BYTES = 512 * 1024;

  /** Room for ids, usage and a short error next to an answer. */
  private static final int HEAD_BYTES = 8 * 1024;

  private static final ReplyLimiter ANSWERS = new ReplyLimiter(MAX_ANSWER_BYTES);

  private DeltaWriter() {}

  /** Returns the record's value. */
  public static byte[] write(ReplyDelta delta) {
    return write(delta, ANSWERS);
  }

  /**
   * Returns the value of a delta within a small limit. An answer is cut. Any other delta loses its
   * content and keeps the position of its end, so that readers see a gap. Returns null if even this
   * does not fit.
   */
  public static byte[] writeWithin(ReplyDelta delta, int most) {
    int answer = most - HEAD_BYTES;
    if (delta.answer() != null && answer >= ReplyLimiter.MIN_BYTES) {
      return write(delta, new ReplyLimiter(Math.min(answer, MAX_ANSWER_BYTES)));
    }
    byte[] gap = write(withoutText(delta), ANSWERS);
    return gap.length <= most ? gap : null;
  }

  private static ReplyDelta withoutText(ReplyDelta delta) {
    String text = delta.text() == null ? "" : delta.text();
    return new ReplyDelta(
        delta.session(),
        delta.branch(),
        delta.turn(),
        delta.choice(),
        delta.offset() + text.codePointCount(0, text.length()),
        delta.tokenOffset(),
        delta.tokens(),
        delta.attempt(),
        "",
        delta.kind(),
        delta.index(),
        delta.id(),
        delta.finishReason(),
        delta.stopReason(),
        delta.completed(),
        delta.usage(),
        delta.answer() == null
            ? ReplyLimiter.shortened(delta.error())
            : ReplyError.failed("the answer is larger than a record of the delta topic may be"),
        null,
        delta.trace(),
        null,
        null,
        null,
        null,
        null,
        delta.timing());
  }

  private static byte[] write(ReplyDelta delta, ReplyLimiter answers) {
    return JsonRecords.write(
        json -> {
          JsonRecords.text(json, "session", delta.session());
          JsonRecords.text(json, "branch", delta.branch());
          JsonRecords.text(json, "turn", delta.turn());
          json.writeNumberField("attempt", delta.attempt());
          json.writeNumberField("choice", delta.choice());
          json.writeNumberField("offset", delta.offset());
          json.writeNumberField("token_offset", delta.tokenOffset());
          json.writeNumberField("tokens", delta.tokens());
          json.writeStringField("text", Texts.wellFormed(delta.text() == null ? "" : delta.text()));
          if (delta.kind() != null) {
            json.writeStringField("kind", delta.kind().name().toLowerCase(Locale.ROOT));
          }
          if (delta.id() != null) {
            json.writeNumberField("index", delta.index());
            json.writeStringField("id", delta.id());
          }
          if (delta.logprobs() != null) {
            json.writePOJOField("logprobs", new ReplyFields.Logprobs(delta.logprobs()));
          }
          if (delta.tokenIds() != null) {
            json.writePOJOField("token_ids", delta.tokenIds());
          }
          if (delta.prompt() != null) {
            json.writePOJOField("prompt", delta.prompt());
          }
          if (delta.finishReason() != null) {
            json.writeStringField("finish_reason", delta.finishReason());
            JsonRecords.text(json, "stop_reason", delta.stopReason());
            if (delta.stopToken() != null) {
              json.writeNumberField("stop_token", delta.stopToken());
            }
            json.writeNumberField("completed", ReplyFields.toSeconds(delta.completed()));
            if (delta.warnings() != null) {
              json.writePOJOField("warnings", delta.warnings());
            }
          }
          if (delta.finishReason() != null || !delta.usage().equals(Usage.NONE)) {
            json.writePOJOField("usage", ReplyFields.UsageJson.of(delta.usage()));
          }
          if (delta.timing() != null) {
            json.writePOJOField("timing", delta.timing());
          }
          if (delta.error() != null) {
            json.writePOJOField("error", ReplyFields.ErrorJson.of(delta.error()));
          }
          if (delta.answer() != null) {
            json.writeFieldName("answer");
            json.writeRawValue(new String(answers.write(delta.answer()), StandardCharsets.UTF_8));
          }
        });
  }
}
