package io.radixflow.lab.jmh;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Schemas and documents that meet them, as agents and extraction have them. */
final class GrammarCases {
  /**
   * @param text a document, as JSON without whitespace
   * @param ids its tokens, the longest first
   */
  record Case(String name, String schema, String text, int[] ids) {}

  private static final String PROSE =
      "The invoice was paid late, after two reminders; the customer \\\"Ñandú & Søn\\\" asked for a"
          + " new copy. ";

  private final Map<String, Integer> idOf = new HashMap<>();
  private final List<Case> cases = new ArrayList<>();

  private GrammarCases(List<byte[]> vocabulary) {
    for (int id = 0; id < vocabulary.size(); id++) {
      idOf.putIfAbsent(new String(vocabulary.get(id), StandardCharsets.ISO_8859_1), id);
    }
  }

  static List<Case> all(List<byte[]> vocabulary) {
    return new GrammarCases(vocabulary).make();
  }

  /** A schema of an object with a number of properties of six kinds. */
  static String properties(int count) {
    String[] kinds = {
      "{\"type\":\"string\"}",
      "{\"type\":\"integer\",\"minimum\":0,\"maximum\":100000}",
      "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":5}",
      "{\"enum\":[\"new\",\"open\",\"closed\"]}",
      "{\"type\":\"boolean\"}",
      "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\",\"format\":\"uuid\"}},"
          + "\"required\":[\"id\"],\"additionalProperties\":false}"
    };
    String names = join(count, i -> "\"property_" + i + "\"");
    String each = join(count, i -> "\"property_" + i + "\":" + kinds[i % kinds.length]);
    return "{\"type\":\"object\",\"properties\":{"
        + each
        + "},\"required\":["
        + names
        + "],\"additionalProperties\":false}";
  }

  private static String document(int count) {
    String[] values = {
      "\"" + PROSE.substring(0, 40) + "\"",
      "4711",
      "[\"urgent\",\"paid\"]",
      "\"open\"",
      "true",
      "{\"id\":\"3f2c1a9e-88b4-4f0e-9d55-0a1b2c3d4e5f\"}"
    };
    return "{" + join(count, i -> "\"property_" + i + "\":" + values[i % values.length]) + "}";
  }

  private static String join(int count, IntFunction<String> each) {
    return IntStream.range(0, count).mapToObj(each).collect(Collectors.joining(","));
  }

  private List<Case> make() {
    add("100 properties", properties(100), document(100));
    add(
        "any object",
        "{\"type\":\"object\"}",
        "{\"title\":\""
            + PROSE
            + "\",\"lines\":[{\"n\":1.5e3,\"ok\":false},{\"n\":-2,\"ok\":null}],\"by\":\"Zoë\"}");
    add(
        "bounded strings",
        "{\"type\":\"object\",\"properties\":{\"summary\":{\"type\":\"string\",\"maxLength\":400},"
            + "\"title\":{\"type\":\"string\",\"minLength\":5,\"maxLength\":60}},"
            + "\"required\":[\"summary\",\"title\"],\"additionalProperties\":false}",
        "{\"summary\":\"" + PROSE.repeat(3) + "\",\"title\":\"" + PROSE.substring(0, 50) + "\"}");
    add(
        "patterns and formats",
        "{\"type\":\"object\",\"properties\":"
            + "{\"code\":{\"type\":\"string\",\"pattern\":\"^[A-Z]{3}-[0-9]{4}$\"},"
            + "\"name\":{\"type\":\"string\",\"pattern\":\"^[a-zA-Z ]+$\"},"
            + "\"slug\":{\"type\":\"string\",\"pattern\":\"^[a-z0-9-]{1,40}$\"},"
            + "\"at\":{\"type\":\"string\",\"format\":\"date-time\"},"
            + "\"mail\":{\"type\":\"string\",\"format\":\"email\"}},"
            + "\"required\":[\"code\",\"name\",\"slug\",\"at\",\"mail\"],\"additionalProperties\":false}",
        "{\"code\":\"ABC-1234\",\"name\":\"Ada Lovelace\",\"slug\":\"a-longer-slug-of-a-page-2026\","
            + "\"at\":\"2026-11-23T18:15:00Z\",\"mail\":\"ada@example.org\"}");
    add(
        "call of a tool",
        "{\"anyOf\":["
            + join(
                12,
                i ->
                    "{\"type\":\"object\",\"properties\":{\"name\":{\"const\":\"tool_"
                        + i
                        + "\"},\"arguments\":"
                        + properties(1 + i)
                        + "},\"required\":[\"name\",\"arguments\"],"
                        + "\"additionalProperties\":false}")
            + "]}",
        "{\"name\":\"tool_7\",\"arguments\":" + document(8) + "}");
    add(
        "tree",
        "{\"$defs\":{\"node\":{\"type\":\"object\",\"properties\":{\"value\":{\"type\":"
            + "\"number\"},\"label\":{\"type\":\"string\"},\"children\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/node\"}}},\"required\":"
            + "[\"value\",\"label\",\"children\"],\"additionalProperties\":false}},\"$ref\":\"#/$defs/node\"}",
        tree(4));
    return cases;
  }

  private static String tree(int depth) {
    String child = depth == 0 ? "" : tree(depth - 1);
    String children = depth > 1 ? child + "," + tree(0) : child;
    return "{\"value\":"
        + depth
        + ".25,\"label\":\"a node at depth "
        + depth
        + "\",\"children\":["
        + children
        + "]}";
  }

  private void add(String name, String schema, String text) {
    cases.add(new Case(name, schema, text, encode(text)));
  }

  private int[] encode(String text) {
    String bytes = new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    List<Integer> ids = new ArrayList<>();
    for (int at = 0; at < bytes.length(); ) {
      int end = Math.min(bytes.length(), at + 16);
      while (!idOf.containsKey(bytes.substring(at, end))) {
        end--;
      }
      ids.add(idOf.get(bytes.substring(at, end)));
      at = end;
    }
    return ids.stream().mapToInt(Integer::intValue).toArray();
  }
}
