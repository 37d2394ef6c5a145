package io.radixflow.protocol.event;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonLimits;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.json.WrittenNumbers;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Origin;
import java.io.IOException;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Turns the bytes of an event into a {@link ConversationEvent}, or describes the error. Accepts
 * exactly what {@code schema/conversation-event.schema.json} accepts. Never throws on bad input.
 * Limits bytes, nesting, tokens, and lengths of names and numbers before it allocates.
 *
 * <p>An unknown field is refused, because an ignored misspelt option would cost its sender more
 * than an error. Only a few fields that clients of other services send are ignored. A null value
 * means that the field is not given. Lone surrogates in text become U+FFFD.
 *
 * <p>Not thread-safe.
 */
public final class EventParser {

  private static final JsonMapper MAPPER = JsonLimits.EVENT.mapper();

  private final int maxBytes;

  /**
   * @param maxBytes the largest event in bytes
   */
  public EventParser(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * Reads one event.
   *
   * @param value the record's value; null for a tombstone
   * @param origin the origin of the record
   */
  public ParsedEvent parse(byte[] value, Origin origin) {
    if (value == null) {
      return ParsedEvent.unreadable(
          null,
          "the record is a tombstone (its value is null), which is not an event: send an event of"
              + " type close to end a session, or of type erase to delete it");
    }
    if (value.length == 0) {
      return ParsedEvent.unreadable(null, "the record's value is empty; it must be a JSON object");
    }
    if (value.length > maxBytes) {
      return unreadable(
          value,
          origin,
          "the event has " + value.length + " bytes; at most " + maxBytes + " are allowed");
    }
    JsonNode root;
    try {
      root = WrittenNumbers.read(MAPPER, value);
    } catch (IOException e) {
      String foreign = ForeignFormat.of(value);
      return unreadable(
          value,
          origin,
          "the event cannot be read as JSON: " + (foreign == null ? describe(e) : foreign));
    }
    if (!root.isObject()) {
      return ParsedEvent.unreadable(null, "the event is not a JSON object");
    }
    return parse(JsonObject.of(root, "the event"), origin);
  }

  private ParsedEvent parse(JsonObject fields, Origin origin) {
    String session = null;
    String turn = null;
    EventKind kind = null;
    try {
      session = fields.id("session");
      if (session == null) {
        throw new InvalidInputException("session is missing: the conversation's id, a string");
      }
      turn = fields.id("turn");
      String type = fields.text("type");
      kind = type == null ? EventKind.MESSAGE : EventFields.kind(type);
      return ParsedEvent.valid(event(kind, session, turn, fields, origin));
    } catch (InvalidInputException e) {
      // clients would mistake a reply to an invalid cancel for the reply of the turn that it names
      boolean cancel = isCancel(fields);
      if (session == null || turn == null || cancel) {
        return ParsedEvent.unreadable(null, e.getMessage());
      }
      return ParsedEvent.invalid(
          ConversationEvent.builder(kind, session, turn)
              .branch(orElse(readable(() -> fields.id("branch")), ConversationEvent.MAIN_BRANCH))
              .tenant(orElse(readable(() -> fields.name("tenant")), ""))
              .origin(origin)
              .error(e.getMessage())
              .build());
    }
  }

  private static ConversationEvent event(
      EventKind kind, String session, String turn, JsonObject fields, Origin origin) {
    checkNames(kind, fields);
    if (turn == null && EventFields.needsTurn(kind)) {
      throw new InvalidInputException("turn is missing: an id for this turn, a string");
    }
    String newBranch = fields.id("new_branch");
    if (newBranch == null && kind == EventKind.FORK) {
      throw new InvalidInputException("new_branch is missing: an id for the branch to make");
    }
    if (kind == EventKind.DELETE_TURN && !fields.has("at_turn")) {
      throw new InvalidInputException("at_turn is missing: the turn to delete");
    }
    GenerationOptions options =
        EventFields.allowed(kind).contains("temperature")
            ? GenerationOptionsReader.read(fields)
            : null;
    return ConversationEvent.builder(kind, session, turn)
        .branch(orElse(fields.id("branch"), ConversationEvent.MAIN_BRANCH))
        .tenant(orElse(fields.name("tenant"), ""))
        .cacheSalt(orElse(fields.name("cache_salt"), ""))
        .messages(EventMessages.read(kind, fields))
        .options(options)
        .replace(fields.bool("replace", false))
        .newBranch(newBranch)
        .atTurn(fields.id("at_turn"))
        .origin(origin)
        .metadata(MetadataReader.read(fields))
        .cache(CacheHintsReader.read(fields))
        .previousTurn(fields.name("previous_turn"))
        .matchHistory(matchHistory(fields))
        .build();
  }

  /** Returns {@code match_history}; refuses fields that also name a place in the session. */
  private static boolean matchHistory(JsonObject fields) {
    boolean match = fields.bool("match_history", false);
    boolean previous = fields.has("previous_turn");
    String place = match ? "match_history" : "previous_turn";
    if (match && previous) {
      throw new InvalidInputException("match_history and previous_turn are both given; give one");
    }
    if ((match || previous) && fields.has("branch")) {
      throw new InvalidInputException(
          "branch and " + place + " are both given; the job chooses the branch");
    }
    if ((match || previous) && fields.bool("replace", false)) {
      throw new InvalidInputException(
          "replace and "
              + place
              + " are both given; a turn with "
              + place
              + " cannot replace another turn");
    }
    return match;
  }

  private static void checkNames(EventKind kind, JsonObject fields) {
    Set<String> allowed = EventFields.allowed(kind);
    for (String name : fields.names()) {
      if (allowed.contains(name) || EventFields.IGNORED.contains(name)) {
        continue;
      }
      if (EventFields.NOT_SERVED.contains(name)) {
        throw new InvalidInputException(name + " is not served yet");
      }
      if (EventFields.known(name)) {
        throw new InvalidInputException(
            name + " is not a field of " + EventFields.type(kind) + " events");
      }
      throw fields.unknown(name, allowed);
    }
  }

  private ParsedEvent unreadable(byte[] value, Origin origin, String reason) {
    BrokenEventIds ids = BrokenEventIds.scan(MAPPER.getFactory(), value);
    if (!ids.answerable()) {
      return ParsedEvent.unreadable(null, reason);
    }
    EventKind kind =
        ids.type() != null && EventFields.types().contains(ids.type())
            ? EventFields.kind(ids.type())
            : null;
    return ParsedEvent.unreadable(
        ConversationEvent.builder(kind, ids.session(), ids.turn())
            .branch(orElse(ids.branch(), ConversationEvent.MAIN_BRANCH))
            .tenant(ids.tenant())
            .origin(origin)
            .error(reason)
            .build(),
        reason);
  }

  private static boolean isCancel(JsonObject fields) {
    JsonNode type = fields.get("type");
    return type != null && "cancel".equals(type.textValue());
  }

  /** Returns a field, or null if it is not valid. */
  private static String readable(Supplier<String> field) {
    try {
      return field.get();
    } catch (InvalidInputException e) {
      return null;
    }
  }

  private static String describe(IOException failure) {
    if (!(failure instanceof JsonProcessingException e)) {
      return oneLine(failure.getMessage());
    }
    JsonLocation at = e.getLocation();
    String message = oneLine(e.getOriginalMessage()).replaceAll(", from `[^`]*`", "");
    return at == null
        ? message
        : message + " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")";
  }

  private static String oneLine(String message) {
    String line = Texts.wellFormed(message == null ? "" : message).replaceAll("\\p{Cntrl}+", " ");
    return line.length() <= 200 ? line : line.substring(0, 200) + "…";
  }

  private static String orElse(String value, String other) {
    return value == null ? other : value;
  }
}
