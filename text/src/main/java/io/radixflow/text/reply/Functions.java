package io.radixflow.text.reply;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The functions that a reply may call. Also decides which other names count as calls; the code that
 * runs the calls can then answer that the function does not exist. Immutable.
 *
 * @param known functions by name
 * @param plain whether a call without a mark may have the name of an unknown function
 */
record Functions(Map<String, Tool> known, boolean plain) {

  private static final int NAME = 256;

  static Functions of(List<Tool> functions, boolean plain) {
    Map<String, Tool> known = new LinkedHashMap<>();
    functions.forEach(f -> known.put(f.name(), f));
    return new Functions(known, plain);
  }

  boolean isKnown(String name) {
    return known.containsKey(name);
  }

  /**
   * Returns whether a text with this function name is a call.
   *
   * @param marked whether a mark before the name shows that it is a call
   */
  boolean takes(String name, boolean marked) {
    return name != null && (isKnown(name) || (marked || plain) && isName(name));
  }

  private static boolean isName(String name) {
    return !name.isBlank()
        && name.length() <= NAME
        && name.chars()
            .noneMatch(c -> Character.isISOControl(c) || Character.isSurrogate((char) c));
  }

  /**
   * Returns a function by its name. For an unknown name, returns a function with arbitrary
   * arguments.
   */
  Tool get(String name) {
    Tool tool = known.get(name);
    return tool == null ? new Tool(name, Map.of(), false) : tool;
  }
}
