package io.radixflow.text.reply;

import io.radixflow.text.reply.json.JsonStrings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Writes a grammar in Lark, rule by rule, and its texts and expressions. */
final class GrammarText {

  private final List<String> rules = new ArrayList<>();

  /** Adds a rule and returns its name. */
  String rule(String name, String body) {
    rules.add(name + ": " + body);
    return name;
  }

  @Override
  public String toString() {
    return String.join("\n", rules) + "\n";
  }

  /** Returns a text as a symbol; an empty string for the empty text. */
  static String literal(String text) {
    return text.isEmpty() ? "" : JsonStrings.quote(text);
  }

  /**
   * Returns an expression for all texts that do not contain any of the marks.
   *
   * @param marks the first character of a mark must not occur later in any mark
   */
  static String without(List<String> marks) {
    Node root = new Node();
    for (String mark : marks) {
      Node node = root;
      for (int i = 0; i < mark.length(); i++) {
        node = node.next.computeIfAbsent(mark.charAt(i), c -> new Node());
      }
      node.mark = true;
    }
    for (String mark : marks) {
      boolean again = mark.chars().skip(1).anyMatch(c -> root.next.containsKey((char) c));
      if (again) {
        throw new IllegalArgumentException(
            "the mark " + mark + " contains the first character of a mark again");
      }
    }
    String other = outside(root, root) + "*";
    List<String> starts = new ArrayList<>();
    root.next.forEach((c, node) -> starts.add(escape(c) + rest(node, root)));
    return other + "(" + String.join("|", starts) + ")*";
  }

  /**
   * Returns the expression for the text after the beginning of a mark, up to the next character
   * that may begin a mark.
   */
  private static String rest(Node node, Node root) {
    List<String> ways = new ArrayList<>();
    ways.add(outside(node, root) + outside(root, root) + "*");
    node.next.forEach(
        (c, next) -> {
          if (!next.mark) {
            ways.add(escape(c) + rest(next, root));
          }
        });
    return "(" + String.join("|", ways) + ")?";
  }

  /**
   * Returns an expression for a character that neither continues the text of a node nor begins a
   * mark.
   */
  private static String outside(Node node, Node root) {
    StringBuilder set = new StringBuilder("[^");
    root.next.keySet().forEach(c -> set.append(escape(c)));
    if (node != root) {
      node.next.keySet().forEach(c -> set.append(escape(c)));
    }
    return set.append(']').toString();
  }

  /** Returns an expression that matches exactly this text. */
  static String quote(String text) {
    StringBuilder quoted = new StringBuilder();
    text.chars().forEach(c -> quoted.append(escape((char) c)));
    return quoted.toString();
  }

  private static String escape(char c) {
    return c == '\n'
        ? "\\n"
        : ".+*?()|[]{}^$\\/-&~#".indexOf(c) >= 0 ? "\\" + c : String.valueOf(c);
  }

  private static final class Node {
    private final Map<Character, Node> next = new TreeMap<>();
    private boolean mark;
  }
}
