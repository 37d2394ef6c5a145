package io.radixflow.gateway.turn;

import io.radixflow.models.Sha256;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.topic.EventWriter;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;

/**
 * A hash of a repeatable request. The job keeps it with the turn, so that every gateway notices a
 * different request with the same key.
 */
final class RequestStamp {

  private static final String KEY = "radixflow.request";
  private static final int BYTES = 12;

  private RequestStamp() {}

  /** Returns the stamp of an event. The event's metadata is not part of the stamp. */
  static String of(ConversationEvent event) {
    byte[] asked = EventWriter.write(event.toBuilder().metadata(null).build());
    byte[] hash = Arrays.copyOf(Sha256.of(asked), BYTES);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
  }

  /** Returns the event with a stamp in its metadata. */
  static ConversationEvent on(ConversationEvent event, String stamp) {
    Map<String, String> metadata = new HashMap<>();
    if (event.metadata() != null) {
      metadata.putAll(event.metadata());
    }
    metadata.put(KEY, stamp);
    return event.toBuilder().metadata(metadata).build();
  }

  /** Returns whether a turn's metadata has a stamp that differs from {@code stamp}. */
  static boolean differs(String stamp, Map<String, String> metadata) {
    return metadata != null && metadata.containsKey(KEY) && !metadata.get(KEY).equals(stamp);
  }
}
