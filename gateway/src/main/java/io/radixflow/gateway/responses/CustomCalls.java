package io.radixflow.gateway.responses;

import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.HashSet;
import java.util.Set;

/**
 * Distinguishes calls of custom tools and their results from calls of functions and their results.
 */
final class CustomCalls {

  private final Set<String> names;
  private final Set<String> ids = new HashSet<>();

  /**
   * @param names names of the custom tools
   */
  CustomCalls(Set<String> names) {
    this.names = names;
  }

  /**
   * Returns whether a call is a call of a custom tool. If so, {@link #hasResult} recognises its
   * result.
   */
  boolean has(ToolCall call) {
    boolean custom = names.contains(call.name());
    if (custom) {
      ids.add(call.id());
    }
    return custom;
  }

  /** Returns whether a result answers a call for which {@link #has} returned true. */
  boolean hasResult(Message result) {
    return ids.contains(result.toolCallId());
  }
}
