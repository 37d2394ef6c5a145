package io.radixflow.text.reply;

import io.radixflow.text.reply.json.CallArguments;
import io.radixflow.text.reply.json.JsonArguments;
import io.radixflow.text.reply.json.Scan;
import io.radixflow.text.reply.json.StringArguments;
import io.radixflow.text.reply.json.WholeArguments;
import java.util.List;
import java.util.stream.Stream;

/**
 * Calls that are JSON objects with the function's name and its arguments, or lists of such objects:
 * {@code <tool_call>{"name": "f", "arguments": {}}</tool_call>}, {@code [TOOL_CALLS][{...},
 * {...}]}.
 *
 * @param markers texts that begin a block
 * @param leading texts that may begin a block at the start of the reply without a marker
 * @param closers texts that end a block; the end may be missing
 * @param keyed whether the function's name is the key of its arguments: {@code {"f": {}}}
 */
record JsonCalls(List<String> markers, List<String> leading, List<String> closers, boolean keyed)
    implements CallFormat {

  private static final List<String> NAMES = List.of("name", "tool_name");
  private static final List<String> ARGUMENTS = List.of("arguments", "parameters");

  @Override
  public List<String> beginnings(String name) {
    return Stream.of("", "\"type\":\"function\",")
        .flatMap(
            type -> ARGUMENTS.stream().map(a -> "{" + type + "\"name\":\"" + name + "\",\"" + a))
        .map(head -> head + "\":")
        .flatMap(head -> Stream.of(head, "[" + head))
        .toList();
  }

  @Override
  public Call head(Scan scan, Functions functions) {
    boolean marked = scan.any(markers);
    scan.space();
    scan.literal("[");
    scan.space();
    return object(scan, functions, marked);
  }

  @Override
  public Call next(Scan scan, Functions functions, boolean marked) {
    scan.space();
    if (!scan.literal(",")) {
      scan.literal(";");
    }
    scan.space();
    return object(scan, functions, marked);
  }

  /**
   * Reads an object up to its arguments, or the whole object if the arguments come before the name.
   *
   * @param marked whether a mark shows that this is a call. Then the arguments may be missing or
   *     have any type, and keys and the name do not need double quotes
   */
  private Call object(Scan scan, Functions functions, boolean marked) {
    String name = null;
    CallArguments arguments = marked ? WholeArguments.NONE : null;
    for (String between = "{"; scan.literal(between); between = ",") {
      scan.space();
      String key = marked ? scan.text() : scan.string();
      scan.space();
      if (key == null || !scan.literal(":") || !scan.space()) {
        return scan.fail();
      }
      if (NAMES.contains(key)) {
        name = marked ? scan.text() : scan.string();
        if (!scan.going() || !functions.takes(name, marked)) {
          return scan.fail();
        }
      } else if (ARGUMENTS.contains(key)) {
        if (scan.literal("null")) {
          arguments = WholeArguments.NONE;
        } else if (name != null && (marked || scan.peek() == '{')) {
          return opened(name, scan, marked);
        } else {
          arguments = before(scan, marked);
        }
      } else if (marked && key.equals("function") && scan.peek() == '{') {
        return object(scan, functions, true);
      } else if (keyed && functions.takes(key, marked) && scan.peek() == '{') {
        return new Call(key, new JsonArguments(), true, marked, this);
      } else if (!scan.value()) {
        return scan.fail();
      }
      scan.space();
    }
    boolean whole = scan.literal("}") && name != null && arguments != null;
    return whole ? new Call(name, arguments, false, marked, this) : scan.fail();
  }

  /** Returns a call whose arguments follow, as JSON or as JSON in a string. */
  private Call opened(String name, Scan scan, boolean marked) {
    CallArguments arguments = scan.literal("\"") ? new StringArguments() : new JsonArguments();
    return scan.starved() ? null : new Call(name, arguments, true, marked, this);
  }

  /**
   * Reads arguments that come before the name. They must be an object, unless the call has a mark.
   */
  private static CallArguments before(Scan scan, boolean marked) {
    int from = scan.at();
    int first = scan.peek();
    if (marked && first == '"') {
      String text = scan.string();
      return text == null ? scan.fail() : new WholeArguments(text.isBlank() ? "{}" : text);
    }
    return (marked || first == '{') && scan.value()
        ? new WholeArguments(scan.since(from))
        : scan.fail();
  }

  @Override
  public boolean end(Scan scan, Call call) {
    if (!call.open()) {
      return true;
    }
    scan.space();
    while (scan.literal(",")) {
      scan.space();
      if (scan.string() == null || !scan.space() || !scan.literal(":") || !scan.space()) {
        return false;
      }
      scan.value();
      scan.space();
    }
    return scan.literal("}");
  }

  @Override
  public String brackets() {
    return "}]";
  }

  @Override
  public String closed(String tail) {
    String rest = without(']', tail.stripTrailing());
    return without('}', rest);
  }

  private static String without(char bracket, String text) {
    boolean ends = !text.isEmpty() && text.charAt(text.length() - 1) == bracket;
    return ends ? text.substring(0, text.length() - 1).stripTrailing() : text;
  }

  @Override
  public boolean close(Scan scan) {
    return scan.closeList(closers);
  }
}
