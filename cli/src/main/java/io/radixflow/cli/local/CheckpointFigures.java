package io.radixflow.cli.local;

/**
 * The figures of a completed checkpoint.
 *
 * @param id number of the checkpoint
 * @param millis milliseconds from its trigger to the last acknowledgement
 * @param syncMillis the longest time for which a subtask was blocked
 * @param asyncMillis time of the longest upload
 * @param newBytes bytes that it added to the bytes of earlier checkpoints
 * @param stateBytes bytes of all state
 */
public record CheckpointFigures(
    long id, long millis, long syncMillis, long asyncMillis, long newBytes, long stateBytes) {}
