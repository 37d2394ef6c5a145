/**
 * Events of sessions: {@link io.radixflow.operators.flink.turn.intake.EventHandler} takes each
 * event. An event opens or ends a session, becomes a turn of a branch, cancels turns, or asks about
 * the session. Only the task's thread uses these classes.
 */
package io.radixflow.operators.flink.turn.intake;
