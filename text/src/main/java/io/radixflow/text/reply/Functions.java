package io.radixflow.text.reply;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The functions that a reply may call, and the names of others that count as calls, so that who
 * runs them can say that there is none. Immutable.
 *
 * @param known by name
 * @param plain whether a call without a mark may be of an unknown function
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
   * Returns whether a name makes a call.
   *
   * @param marked whether a mark before it says that it is one
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

  /** Returns a function by its name; one that takes anything if the name is unknown. */
  Tool get(String name) {
    Tool tool = known.get(name);
    return tool == null ? new Tool(name, Map.of(), false) : tool;
  }
}
