/**
 * Stores the results of ended turns and sessions: {@link
 * io.radixflow.operators.flink.turn.end.SessionHistoryWriter} writes a turn to the history, {@link
 * io.radixflow.operators.flink.turn.end.SessionErasure} erases the pages of text that the history
 * does not keep, and {@link io.radixflow.operators.flink.turn.end.PageLocations} stores where the
 * other pages are. This package knows no running turns, only their {@link
 * io.radixflow.operators.flink.turn.end.TurnResult}.
 */
package io.radixflow.operators.flink.turn.end;
