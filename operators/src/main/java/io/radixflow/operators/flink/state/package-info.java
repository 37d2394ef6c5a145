/**
 * The operator's state: sessions, loaded once for each unit of work as a {@link
 * io.radixflow.operators.flink.state.SessionContext}, their history, timers and counts.
 */
package io.radixflow.operators.flink.state;
