package io.radixflow.text.reply;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Parses replies and writes their parts as lines, for tests. */
final class Replies {

  static final List<Tool> TOOLS =
      List.of(
          tool("get_weather", Map.of("city", type("string"), "days", type("integer"))),
          tool(
              "write",
              Map.of(
                  "path", type("string"),
                  "text", Map.of("anyOf", List.of(type("string"), type("null"))),
                  "mode", type("number"),
                  "force", type("boolean"),
                  "lines", Map.of("type", "array", "items", type("integer")),
                  "options", type("object"))),
          tool("now", Map.of()));

  private Replies() {}

  static Tool tool(String name, Map<String, ?> properties) {
    return new Tool(name, Map.of("type", "object", "properties", properties), false);
  }

  private static Map<String, ?> type(String name) {
    return Map.of("type", name);
  }

  static ReplyParser parser(ToolFormat format) {
    return new ReplyFormat(format, null).parser(TOOLS, "");
  }

  /** The parts of a reply given at once: {@code content}, {@code ~reasoning}, {@code 0:f{args}}. */
  static List<String> parse(ReplyParser parser, String text) {
    return describe(parse(parser, List.of(text)));
  }

  static List<ReplyPart> parse(ReplyParser parser, List<String> pieces) {
    List<ReplyPart> parts = new ArrayList<>();
    pieces.forEach(p -> parser.accept(p, parts::add));
    parser.finish(parts::add);
    return parts;
  }

  /** The parts of a reply that a limit cut. */
  static List<String> parseCut(ReplyParser parser, List<String> pieces) {
    List<ReplyPart> parts = new ArrayList<>();
    pieces.forEach(p -> parser.accept(p, parts::add));
    parser.finish(true, parts::add);
    return describe(parts);
  }

  static List<ReplyPart> merge(List<ReplyPart> parts) {
    List<ReplyPart> merged = new ArrayList<>();
    for (ReplyPart part : parts) {
      ReplyPart last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
      if (last != null && last.kind() == part.kind() && last.index() == part.index()) {
        merged.set(
            merged.size() - 1, new ReplyPart(part.kind(), part.index(), last.text() + part.text()));
      } else {
        merged.add(part);
      }
    }
    return merged;
  }

  static List<String> describe(List<ReplyPart> parts) {
    List<String> lines = new ArrayList<>();
    for (ReplyPart part : merge(parts)) {
      switch (part.kind()) {
        case CONTENT -> lines.add(part.text());
        case REASONING -> lines.add("~" + part.text());
        case TOOL_CALL -> lines.add(part.index() + ":" + part.text());
        case ARGUMENTS -> {
          int call = lines.size() - 1;
          lines.set(call, lines.get(call) + part.text());
        }
      }
    }
    return lines;
  }
}
