package io.radixflow.gateway.responses;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Finds conversations. A conversation is a session; its branch {@code main} contains the items. The
 * metadata is the latest message of a second session, so that it can change.
 */
final class ConversationLookup {

  private static final Set<String> ABSENT = Set.of("unknown", "closed", "erased");
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Asking asking;

  ConversationLookup(Asking asking) {
    this.asking = asking;
  }

  /**
   * Finds a conversation; if there is none, the client gets a 404.
   *
   * @param then takes the messages of the history, on the exchange's event loop
   */
  void find(Exchange exchange, String id, Consumer<List<Reply.Item>> then) {
    if (!ResponseIds.isConversation(id)) {
      throw ResponseErrors.noConversation(exchange, id);
    }
    history(
        exchange,
        id,
        items -> {
          if (items == null) {
            throw ResponseErrors.noConversation(exchange, id);
          }
          then.accept(items);
        });
  }

  /** Passes the history, or null if the caller has no such session. */
  private void history(Exchange exchange, String session, Consumer<List<Reply.Item>> then) {
    asking.history(
        exchange,
        session,
        null,
        reply -> {
          boolean rejected = reply == null || reply.status() == null;
          then.accept(rejected || ABSENT.contains(reply.status()) ? null : reply.items());
        });
  }

  /** Returns the items of a conversation as clients see them, oldest first. */
  static List<ObjectNode> items(List<Reply.Item> history) {
    List<ObjectNode> items = new ArrayList<>();
    String turn = null;
    int position = 0;
    CustomCalls custom = new CustomCalls(custom(history));
    for (Reply.Item item : history) {
      if (item.turn() != null) {
        position = item.turn().equals(turn) ? position : 0;
        turn = item.turn();
        boolean reply = item.finishReason() != null;
        int at = reply ? ResponseIds.REPLY : position++;
        items.addAll(ResponseJson.items(turn, at, item.message(), item.order(), custom));
      }
    }
    return items;
  }

  /** Returns the names of the custom tools of a history's responses. */
  private static Set<String> custom(List<Reply.Item> history) {
    Set<String> names = new HashSet<>();
    for (Reply.Item item : history) {
      String kept = item.metadata() == null ? null : item.metadata().get(ResponseSettings.KEY);
      if (kept != null) {
        names.addAll(ResponseSettings.decoded(kept, 0, "").custom());
      }
    }
    return names;
  }

  /** Passes the metadata of an existing conversation. */
  void metadata(Exchange exchange, String id, Consumer<Map<String, String>> then) {
    history(
        exchange,
        metadataSession(id),
        items -> {
          boolean none = items == null || items.isEmpty();
          then.accept(none ? Map.of() : decoded(items.get(items.size() - 1).content()));
        });
  }

  /** Returns the event that replaces the metadata of a conversation. */
  static ConversationEvent newMetadata(Exchange exchange, String id, Metadata metadata) {
    ObjectNode entries = JSON.createObjectNode();
    metadata.entries().forEach(entries::put);
    return Asking.event(exchange, EventKind.APPEND, metadataSession(id))
        .messages(List.of(new Message("user", entries.toString())))
        .build();
  }

  static String metadataSession(String id) {
    return "metadata_" + id;
  }

  private static Map<String, String> decoded(String json) {
    Map<String, String> entries = new LinkedHashMap<>();
    try {
      JsonNode node = JSON.readTree(json);
      node.fields().forEachRemaining(each -> entries.put(each.getKey(), each.getValue().asText()));
    } catch (JsonProcessingException e) {
      return Map.of(); // another client of the topics wrote to the session
    }
    return entries;
  }
}
