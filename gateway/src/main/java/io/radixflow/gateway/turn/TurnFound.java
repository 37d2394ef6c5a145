package io.radixflow.gateway.turn;

import java.util.Map;

/**
 * A turn that the job already has, because its request was sent before.
 *
 * @param turn its id; differs from the event's id if the job had rejected that id
 * @param status {@code queued}, {@code running} or {@code done}
 * @param metadata the metadata of the first request
 */
public record TurnFound(String turn, String status, Map<String, String> metadata) {}
