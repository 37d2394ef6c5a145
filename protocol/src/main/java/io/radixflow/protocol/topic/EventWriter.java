package io.radixflow.protocol.topic;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.radixflow.protocol.event.EventFields;
import io.radixflow.protocol.event.EventParser;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.RetentionRange;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.Map;

/** Writes events in the form of {@code schema/conversation-event.schema.json}. */
public final class EventWriter {

  private EventWriter() {}

  private record EventJson(
      String type,
      String session,
      String branch,
      String previousTurn,
      Boolean matchHistory,
      String turn,
      String newBranch,
      String atTurn,
      String tenant,
      String cacheSalt,
      List<MessageJson> messages,
      Object prompt,
      @JsonUnwrapped GenerationOptions options,
      Boolean replace,
      Map<String, String> metadata,
      CacheJson cache) {}

  private record CacheJson(
      boolean noStore, long pinMs, List<RangeJson> retention, RangeJson generated) {
    static CacheJson of(CacheHints hints) {
      RetentionRange generated = hints.generated();
      return new CacheJson(
          hints.noStore(),
          hints.pinMillis(),
          hints.retention().stream().map(RangeJson::of).toList(),
          generated == null
              ? null
              : new RangeJson(null, null, generated.priority(), generated.durationMillis()));
    }
  }

  private record RangeJson(Integer tokenStart, Integer tokenCount, int priority, long durationMs) {
    static RangeJson of(RetentionRange range) {
      boolean toTheEnd = range.tokenEnd() == Integer.MAX_VALUE;
      return new RangeJson(
          range.tokenStart(),
          toTheEnd ? null : range.tokenEnd() - range.tokenStart(),
          range.priority(),
          range.durationMillis());
    }
  }

  /** Returns the record's value. {@link EventParser} reads it back as an equal event. */
  public static byte[] write(ConversationEvent event) {
    return JsonRecords.write(
        new EventJson(
            EventFields.type(event.kind()),
            event.session(),
            ConversationEvent.MAIN_BRANCH.equals(event.branch()) ? null : event.branch(),
            event.previousTurn(),
            event.matchHistory() ? true : null,
            event.turn(),
            event.newBranch(),
            event.atTurn(),
            nullIfEmpty(event.tenant()),
            nullIfEmpty(event.cacheSalt()),
            messages(event),
            prompt(event.messages()),
            event.options(),
            event.replace() ? true : null,
            event.metadata(),
            event.cache() == null ? null : CacheJson.of(event.cache())));
  }

  private static Object prompt(List<Message> messages) {
    int[] ids = Message.promptIds(messages);
    return ids == null ? Message.prompt(messages) : ids;
  }

  /** Returns the messages; a message event always has the field. */
  private static List<MessageJson> messages(ConversationEvent event) {
    if (Message.isPrompt(event.messages())) {
      return null;
    }
    if (event.messages() != null && !event.messages().isEmpty()) {
      return MessageJson.of(event.messages());
    }
    return event.kind() == EventKind.MESSAGE ? List.of() : null;
  }

  private static String nullIfEmpty(String text) {
    return text == null || text.isEmpty() ? null : text;
  }
}
