package io.radixflow.gateway.turn;

import java.util.Map;

/**
 * A turn that the job has, whose request may have been sent before.
 *
 * @param turn its id, which is another than the event's if the job had rejected that
 * @param status {@code queued}, {@code running} or {@code done}
 * @param metadata what was kept with it when it was first sent
 */
public record TurnFound(String turn, String status, Map<String, String> metadata) {}
