package io.radixflow.gateway.responses;

import io.radixflow.operators.record.Message;
import io.radixflow.operators.record.ToolCall;
import java.util.HashSet;
import java.util.Set;

/** Tells calls of custom tools, and their results, from those of functions. */
final class CustomCalls {

  private final Set<String> names;
  private final Set<String> ids = new HashSet<>();

  /**
   * @param names of the custom tools
   */
  CustomCalls(Set<String> names) {
    this.names = names;
  }

  /** Returns whether a call is of a custom tool; its result is then known, too. */
  boolean has(ToolCall call) {
    boolean custom = names.contains(call.name());
    if (custom) {
      ids.add(call.id());
    }
    return custom;
  }

  /** Returns whether a result answers a call that was asked about and is of a custom tool. */
  boolean hasResult(Message result) {
    return ids.contains(result.toolCallId());
  }
}
