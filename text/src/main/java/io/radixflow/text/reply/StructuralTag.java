package io.radixflow.text.reply;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Writes the grammar of a structural tag, which defines the text between marks in a reply. The tag
 * has {@code format}, or in its older form {@code structures} and {@code triggers}.
 */
public final class StructuralTag {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int MAX_DEPTH = 50;

  private final GrammarText grammar = new GrammarText();
  private int rules;

  private StructuralTag() {}

  /**
   * Returns the grammar in Lark.
   *
   * @param tag the parsed JSON of the tag
   * @throws IllegalArgumentException if the tag is malformed or has a format that is not supported
   */
  public static String grammar(Map<?, ?> tag) {
    StructuralTag writer = new StructuralTag();
    Object format = tag.get("format");
    Map<?, ?> whole = format == null ? older(tag) : object(format, "format");
    writer.grammar.rule("start", writer.symbol(whole, 0));
    return writer.grammar.toString();
  }

  private static Map<?, ?> older(Map<?, ?> tag) {
    List<Object> tags = new ArrayList<>();
    for (Object each : list(tag, "structures")) {
      Map<?, ?> structure = object(each, "structures");
      Object schema = structure.get("schema");
      tags.add(
          Map.of(
              "begin",
              text(structure, "begin"),
              "content",
              Map.of("type", "json_schema", "json_schema", schema == null ? Map.of() : schema),
              "end",
              structure.get("end") == null ? "" : structure.get("end")));
    }
    return Map.of("type", "triggered_tags", "triggers", list(tag, "triggers"), "tags", tags);
  }

  private String symbol(Map<?, ?> format, int depth) {
    if (depth > MAX_DEPTH) {
      throw new IllegalArgumentException(
          "structural_tag is nested more than " + MAX_DEPTH + " levels deep");
    }
    String type = String.valueOf(format.get("type"));
    return switch (type) {
      case "const_string" -> GrammarText.literal(text(format, "value"));
      case "json_schema" -> schema(format);
      case "regex" -> expression(text(format, "pattern"));
      case "any_text" -> free(texts(format, "excludes"));
      case "sequence" -> all(list(format, "elements"), " ", depth);
      case "or" -> "(" + all(list(format, "elements"), " | ", depth) + ")";
      case "tag" -> tag(format, depth);
      case "triggered_tags" -> triggered(format, depth);
      case "tags_with_separator" -> separated(format, depth);
      default ->
          throw new IllegalArgumentException(
              "structural_tag has the format "
                  + type
                  + ", which is not supported; supported are"
                  + " const_string, json_schema, regex, any_text, sequence, or, tag,"
                  + " triggered_tags and tags_with_separator");
    };
  }

  private String rule(String body) {
    return grammar.rule("part_" + rules++, body);
  }

  private String all(Collection<?> formats, String between, int depth) {
    Function<Object, String> each = f -> rule(symbol(object(f, "elements"), depth + 1));
    return formats.stream().map(each).collect(Collectors.joining(between));
  }

  private String schema(Map<?, ?> format) {
    Object style = format.get("style");
    if (style != null && !style.equals("json")) {
      throw new IllegalArgumentException(
          "structural_tag has the style " + style + " of a schema, which is not supported");
    }
    try {
      Object schema = format.get("json_schema");
      boolean any = schema == null || Boolean.TRUE.equals(schema);
      return "%json " + JSON.writeValueAsString(any ? Map.of() : object(schema, "json_schema"));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("a schema is not JSON: " + e.getOriginalMessage(), e);
    }
  }

  /** Returns an expression between slashes. Escapes its own slashes and line ends. */
  private static String expression(String regex) {
    StringBuilder quoted = new StringBuilder("/");
    for (int i = 0; i < regex.length(); i++) {
      char c = regex.charAt(i);
      if (c == '\\' && i + 1 < regex.length()) {
        quoted.append(c).append(regex.charAt(++i));
      } else {
        quoted.append(c == '/' ? "\\/" : c == '\n' ? "\\n" : String.valueOf(c));
      }
    }
    return quoted.append('/').toString();
  }

  /** Returns an expression for text that does not contain any of the marks. */
  private static String free(List<String> marks) {
    String any = marks.stream().map(GrammarText::quote).collect(Collectors.joining("|"));
    return marks.isEmpty() ? "/(?s:.*)/" : "/(?s:(?!.*(" + any + ")).*)/";
  }

  private String tag(Map<?, ?> tag, int depth) {
    List<String> ends = texts(tag, "end");
    Map<?, ?> content = object(tag.get("content"), "content");
    boolean free = "any_text".equals(content.get("type"));
    List<String> marks = new ArrayList<>(free ? texts(content, "excludes") : List.of());
    ends.stream().filter(end -> !end.isEmpty()).forEach(marks::add);
    String inner = free ? free(marks) : rule(symbol(content, depth + 1));
    String end = ends.stream().map(StructuralTag::orNothing).collect(Collectors.joining(" | "));
    return GrammarText.literal(text(tag, "begin")) + " " + inner + " (" + end + ")";
  }

  private static String orNothing(String text) {
    return text.isEmpty() ? "\"\"" : GrammarText.literal(text);
  }

  private String triggered(Map<?, ?> format, int depth) {
    List<String> triggers = texts(format, "triggers");
    for (Object tag : list(format, "tags")) {
      String begin = text(object(tag, "tags"), "begin");
      if (triggers.stream().noneMatch(begin::startsWith)) {
        throw new IllegalArgumentException(
            "structural_tag has a tag that does not begin with any of its triggers: " + begin);
      }
    }
    List<String> marks = new ArrayList<>(triggers);
    marks.addAll(texts(format, "excludes"));
    String free = rule(free(marks));
    String one = free + " " + tags(format, depth);
    boolean least = Boolean.TRUE.equals(format.get("at_least_one"));
    if (Boolean.TRUE.equals(format.get("stop_after_first"))) {
      return least ? one : "(" + one + " | " + free + ")";
    }
    return "(" + one + ")" + (least ? "+ " : "* ") + free;
  }

  private String separated(Map<?, ?> format, int depth) {
    String tag = tags(format, depth);
    boolean once = Boolean.TRUE.equals(format.get("stop_after_first"));
    String separator = GrammarText.literal(text(format, "separator"));
    String some = once ? tag : tag + " (" + separator + " " + tag + ")*";
    return Boolean.TRUE.equals(format.get("at_least_one")) ? some : "(" + some + ")?";
  }

  private String tags(Map<?, ?> format, int depth) {
    List<String> tags = new ArrayList<>();
    for (Object tag : list(format, "tags")) {
      tags.add(rule(tag(object(tag, "tags"), depth + 1)));
    }
    return rule(String.join(" | ", tags));
  }

  // ---- fields ----

  private static Map<?, ?> object(Object value, String field) {
    if (value instanceof Map<?, ?> object) {
      return object;
    }
    throw new IllegalArgumentException("structural_tag needs an object as " + field);
  }

  private static String text(Map<?, ?> object, String field) {
    if (object.get(field) instanceof String text) {
      return text;
    }
    throw new IllegalArgumentException("structural_tag needs a string as " + field);
  }

  private static Collection<?> list(Map<?, ?> object, String field) {
    if (object.get(field) instanceof Collection<?> list && !list.isEmpty()) {
      return list;
    }
    throw new IllegalArgumentException("structural_tag needs a list as " + field);
  }

  /** Returns one text or several; empty if the field is missing. */
  private static List<String> texts(Map<?, ?> object, String field) {
    Object value = object.get(field);
    Collection<?> all =
        value == null ? List.of() : value instanceof Collection<?> list ? list : List.of(value);
    List<String> texts = new ArrayList<>();
    for (Object each : all) {
      if (!(each instanceof String text)) {
        throw new IllegalArgumentException("structural_tag needs a string or strings as " + field);
      }
      texts.add(text);
    }
    return texts.isEmpty() && field.equals("end") ? List.of("") : texts;
  }
}
