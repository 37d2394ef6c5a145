package io.radixflow.operators.record;

/**
 * A command to every subtask, through the broadcast input; a Flink POJO.
 *
 * @param kind {@code erase_tenant}, {@code drain}, {@code limits} or {@code tiers}
 * @param tenant the tenant meant, or null
 * @param value the command's argument, or null; of {@code tiers} a {@link TierCommand} as text
 */
public record ControlEvent(String kind, String tenant, String value) {}
