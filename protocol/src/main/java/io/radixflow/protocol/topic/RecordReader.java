package io.radixflow.protocol.topic;

import io.radixflow.protocol.record.ConversationEntry;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.TurnTiming;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Reads what the writers of this package write, for clients. */
public final class RecordReader {

  private RecordReader() {}

  /** The JSON object of a delta, in the form of {@code schema/reply-delta.schema.json}. */
  private record DeltaJson(
      String session,
      String branch,
      String turn,
      long attempt,
      int choice,
      int offset,
      int tokenOffset,
      int tokens,
      String text,
      String kind,
      Integer index,
      String id,
      String finishReason,
      String stopReason,
      Long completed,
      ReplyFields.UsageJson usage,
      ReplyFields.ErrorJson error,
      ReplyFields.Logprobs logprobs,
      ReplyFields answer,
      Integer stopToken,
      List<Integer> tokenIds,
      PromptTokens prompt,
      List<String> warnings,
      TurnTiming timing) {}

  /**
   * Reads a record of the delta topic.
   *
   * @throws IOException if the value is not a delta
   */
  public static ReplyDelta delta(byte[] value) throws IOException {
    DeltaJson json = JsonRecords.read(value, DeltaJson.class);
    try {
      return delta(json);
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private static ReplyDelta delta(DeltaJson json) throws IOException {
    return new ReplyDelta(
        json.session,
        json.branch,
        json.turn,
        json.choice,
        json.offset,
        json.tokenOffset,
        json.tokens,
        json.attempt,
        json.text == null ? "" : json.text,
        json.kind == null ? null : ReplyDelta.Kind.valueOf(json.kind.toUpperCase(Locale.ROOT)),
        json.index == null ? -1 : json.index,
        json.id,
        json.finishReason,
        json.stopReason,
        TimeUnit.SECONDS.toMillis(ReplyFields.orZero(json.completed)),
        ReplyFields.UsageJson.usage(json.usage),
        ReplyFields.ErrorJson.error(json.error),
        json.logprobs == null ? null : json.logprobs.content(),
        null,
        json.answer == null ? null : reply(json.answer),
        json.stopToken,
        json.tokenIds,
        json.prompt,
        json.warnings,
        json.timing);
  }

  /**
   * Reads a record of the reply topic.
   *
   * @throws IOException if the value is not a reply
   */
  public static Reply reply(byte[] value) throws IOException {
    return reply(JsonRecords.read(value, ReplyFields.class));
  }

  /**
   * Reads a record of the conversation index.
   *
   * @param value null for a tombstone
   * @throws IOException if the record does not name a session of a tenant
   */
  public static ConversationEntry conversation(byte[] key, byte[] value) throws IOException {
    ConversationEntry entry =
        JsonRecords.read(value == null ? key : value, ConversationEntry.class);
    if (entry.tenant() == null || entry.session() == null) {
      throw new IOException("the record has no tenant or no session");
    }
    return entry;
  }

  private static Reply reply(ReplyFields json) throws IOException {
    try {
      return json.reply();
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }
}
