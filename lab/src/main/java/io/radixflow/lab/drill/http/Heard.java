package io.radixflow.lab.drill.http;

import io.radixflow.text.template.ToolCall;
import java.util.List;

/**
 * The outcome of a turn as an HTTP client saw it.
 *
 * @param key key of the request
 * @param session session of the turn in the gateway's response
 * @param turn id of the turn in the gateway's response
 * @param id id of the completion or response
 * @param text all pieces of the content, joined
 * @param calls tool calls, in order
 * @param finish {@code stop}, {@code tool_calls}, {@code length} or {@code cancelled}; null if the
 *     turn failed
 * @param waits milliseconds from each break of the connection to the next event
 * @param faults descriptions of wrong events
 */
public record Heard(
    String key,
    String session,
    String turn,
    String id,
    String text,
    List<ToolCall> calls,
    String finish,
    List<Long> waits,
    List<String> faults) {

  public Heard {
    calls = List.copyOf(calls);
    waits = List.copyOf(waits);
    faults = List.copyOf(faults);
  }

  public boolean cancelled() {
    return "cancelled".equals(finish);
  }

  /** Returns whether a text and calls are a prefix of a whole text and calls. */
  public static boolean isPrefix(
      String text, List<ToolCall> calls, String whole, List<ToolCall> wholeCalls) {
    boolean prefix = whole.startsWith(text) && calls.size() <= wholeCalls.size();
    for (int i = 0; prefix && i < calls.size(); i++) {
      ToolCall call = calls.get(i);
      ToolCall other = wholeCalls.get(i);
      boolean last = i + 1 == calls.size();
      prefix =
          call.id().equals(other.id())
              && call.name().equals(other.name())
              && (last
                  ? other.arguments().startsWith(call.arguments())
                  : other.arguments().equals(call.arguments()));
    }
    return prefix;
  }
}
