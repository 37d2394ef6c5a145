package io.radixflow.kernels.text.message;

import io.radixflow.kernels.text.message.json.Arguments;
import io.radixflow.kernels.text.message.json.JsonArguments;
import io.radixflow.kernels.text.message.json.Scan;
import io.radixflow.kernels.text.message.json.WholeArguments;
import java.util.List;
import java.util.Map;

/**
 * Calls that are JSON objects with the function's name and its arguments, or lists of them: {@code
 * <tool_call>{"name": "f", "arguments": {}}</tool_call>}, {@code [TOOL_CALLS][{...}, {...}]}.
 *
 * @param markers any of them begins a block
 * @param leading what may begin a block at the reply's start without a marker
 * @param closers any of them ends a block; it may be missing
 * @param keyed whether the function's name is the key of the arguments: {@code {"f": {}}}
 */
record JsonCalls(List<String> markers, List<String> leading, List<String> closers, boolean keyed)
    implements CallFormat {

  private static final List<String> NAMES = List.of("name", "tool_name");
  private static final List<String> ARGUMENTS = List.of("arguments", "parameters");

  @Override
  public Call head(Scan scan, Map<String, Tool> tools) {
    boolean marked = scan.any(markers);
    scan.space();
    scan.literal("[");
    scan.space();
    return object(scan, tools, marked);
  }

  @Override
  public Call next(Scan scan, Map<String, Tool> tools) {
    scan.space();
    if (!scan.literal(",")) {
      scan.literal(";");
    }
    scan.space();
    return object(scan, tools, false);
  }

  /**
   * Reads an object up to its arguments, or whole if they stand before the name.
   *
   * @param marked whether arguments may be missing, since it can be nothing but a call
   */
  private Call object(Scan scan, Map<String, Tool> tools, boolean marked) {
    String name = null;
    Arguments arguments = marked ? WholeArguments.NONE : null;
    for (String between = "{"; scan.literal(between); between = ",") {
      scan.space();
      String key = scan.string();
      scan.space();
      if (key == null || !scan.literal(":") || !scan.space()) {
        return scan.fail();
      }
      if (NAMES.contains(key)) {
        name = scan.string();
        if (!scan.going() || !tools.containsKey(name)) {
          return scan.fail();
        }
      } else if (ARGUMENTS.contains(key)) {
        if (name != null && scan.peek() == '{') {
          return new Call(name, new JsonArguments(), true, this);
        }
        arguments = before(scan);
      } else if (keyed && tools.containsKey(key) && scan.peek() == '{') {
        return new Call(key, new JsonArguments(), true, this);
      } else if (!scan.value()) {
        return scan.fail();
      }
      scan.space();
    }
    boolean whole = scan.literal("}") && name != null && arguments != null;
    return whole ? new Call(name, arguments, false, this) : scan.fail();
  }

  /** Reads arguments that stand before the name; null and what is no object fail the scan. */
  private static Arguments before(Scan scan) {
    if (scan.literal("null")) {
      return WholeArguments.NONE;
    }
    int from = scan.at();
    return scan.peek() == '{' && scan.value() ? new WholeArguments(scan.since(from)) : scan.fail();
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
  public boolean close(Scan scan) {
    return scan.closeList(closers);
  }
}
