package io.radixflow.cli.local;

/**
 * A completed checkpoint in figures.
 *
 * @param id its number
 * @param millis from its trigger to the last acknowledgement
 * @param syncMillis for which a subtask stood still, the longest of all
 * @param asyncMillis of the longest upload
 * @param newBytes that it added to what earlier ones had stored
 * @param stateBytes of all state
 */
public record CheckpointFigures(
    long id, long millis, long syncMillis, long asyncMillis, long newBytes, long stateBytes) {}
