package io.radixflow.protocol.json;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reads content parts, under the names of the APIs. A part that a text model cannot read becomes a
 * note in the text, such as {@code [image: this model reads text only]}, so that the conversation
 * can continue. The sender gets a notice for each note.
 */
public final class ContentParts {
  private static final Set<String> TEXTS =
      Set.of("text", "input_text", "output_text", "summary_text", "reasoning_text");

  /** The names of parts without text, by type. */
  private static final Map<String, String> UNREADABLE =
      Map.ofEntries(
          Map.entry("image", "image"),
          Map.entry("image_url", "image"),
          Map.entry("input_image", "image"),
          Map.entry("output_image", "image"),
          Map.entry("image_file", "image"),
          Map.entry("computer_screenshot", "image"),
          Map.entry("audio", "audio"),
          Map.entry("audio_url", "audio"),
          Map.entry("input_audio", "audio"),
          Map.entry("output_audio", "audio"),
          Map.entry("video", "video"),
          Map.entry("video_url", "video"),
          Map.entry("input_video", "video"),
          Map.entry("file", "file"),
          Map.entry("input_file", "file"),
          Map.entry("container_upload", "file"));

  /** Fields of other parts that contain texts, in the order in which the texts are shown. */
  private static final List<String> FIELDS =
      List.of(
          "title",
          "url",
          "context",
          "text",
          "stdout",
          "stderr",
          "output",
          "outputs",
          "logs",
          "results",
          "content",
          "source",
          "error_code");

  private final boolean refuse;
  private final Consumer<String> notice;

  /**
   * @param refuse whether a message with a part that cannot be read is refused; results of tools
   *     are never refused
   * @param notice receives the path of each part or field that is left out
   */
  public ContentParts(boolean refuse, Consumer<String> notice) {
    this.refuse = refuse;
    this.notice = notice;
  }

  /** Tells the sender that a field or part has no effect. */
  public void leaveOut(String path) {
    notice.accept(path);
  }

  /** Returns whether parts of a type never have text. */
  public static boolean isUnreadable(String type) {
    return UNREADABLE.containsKey(type);
  }

  /** Returns the note that replaces a part that cannot be read. */
  public static String note(String type) {
    return "[" + UNREADABLE.getOrDefault(type, type) + ": this model reads text only]";
  }

  /**
   * Returns the text of a message's part, or a note.
   *
   * @throws InvalidInputException if the part has no type, or is refused
   */
  public String ofMessage(JsonObject part) {
    return text(part, refuse);
  }

  /** Returns the text of a part of a tool's result, or a note; the part may have no type. */
  public String ofResult(JsonObject part) {
    return part.has("type") ? text(part, false) : String.join("\n", texts(part));
  }

  private String text(JsonObject part, boolean refused) {
    String type = part.require("type").text("type");
    if (TEXTS.contains(type)) {
      return part.require("text").text("text");
    } else if (type.equals("refusal")) {
      return part.require("refusal").text("refusal");
    }
    List<String> texts = isUnreadable(type) ? List.of() : texts(part);
    if (!texts.isEmpty()) {
      return String.join("\n", texts);
    }
    if (refused) {
      throw new InvalidInputException(
          "%s is %s: this model reads text only".formatted(part.path("type"), Texts.quote(type)));
    }
    notice.accept(part.path("type") + "=" + Texts.quote(type));
    return note(type);
  }

  private static List<String> texts(JsonObject part) {
    List<String> texts = new ArrayList<>();
    FIELDS.forEach(field -> collect(part.get(field), texts));
    return texts;
  }

  private static void collect(JsonNode value, List<String> texts) {
    if (value == null) {
      return;
    } else if (value.isTextual()) {
      if (!value.textValue().isEmpty()) {
        texts.add(value.textValue());
      }
    } else if (value.isArray()) {
      value.forEach(item -> collect(item, texts));
    } else if (value.isObject()) {
      String type = value.path("type").asText();
      if (isUnreadable(type)) {
        texts.add(note(type));
        return;
      }
      if (type.equals("text") && value.has("data")) {
        collect(value.get("data"), texts);
      }
      FIELDS.forEach(field -> collect(value.get(field), texts));
    }
  }

  /** Returns the text of a call's arguments, which some clients send as an object. */
  public static String arguments(JsonNode given) {
    if (given == null) {
      return "{}";
    }
    return Texts.wellFormed(given.isTextual() ? given.textValue() : given.toString());
  }
}
