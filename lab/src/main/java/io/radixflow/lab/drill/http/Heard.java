package io.radixflow.lab.drill.http;

import java.util.List;

/**
 * What an HTTP client heard of a turn.
 *
 * @param key of the request
 * @param session of the turn, as the gateway named it
 * @param turn its id, as the gateway named it
 * @param id of the completion or response
 * @param text all pieces of the reply, joined
 * @param finish {@code stop}, {@code length} or {@code cancelled}; null if the turn failed
 * @param waits milliseconds from each break of the connection to the next event
 * @param faults what was wrong with what came
 */
public record Heard(
    String key,
    String session,
    String turn,
    String id,
    String text,
    String finish,
    List<Long> waits,
    List<String> faults) {

  public Heard {
    waits = List.copyOf(waits);
    faults = List.copyOf(faults);
  }

  public boolean cancelled() {
    return "cancelled".equals(finish);
  }
}
