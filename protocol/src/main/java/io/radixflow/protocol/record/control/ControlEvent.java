package io.radixflow.protocol.record.control;

import java.util.Objects;

/**
 * A command to every subtask, through the broadcast input; a Flink POJO.
 *
 * @param kind what to do
 * @param tenant the tenant meant, or null
 * @param value the argument, or null; see {@link ControlKind}
 */
public record ControlEvent(ControlKind kind, String tenant, String value) {
  public ControlEvent {
    Objects.requireNonNull(kind, "a control event has a kind");
  }
}
