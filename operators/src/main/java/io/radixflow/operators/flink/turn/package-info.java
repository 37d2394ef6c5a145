/**
 * The turns of a subtask: they are admitted, queued by branch, run on the engine, and end with
 * exactly one reply, a change of the session's history, and the erasure of pages that are not part
 * of it. {@link io.radixflow.operators.flink.turn.TurnIntake} takes events, {@link
 * io.radixflow.operators.flink.turn.TurnRunner} runs turns, {@link
 * io.radixflow.operators.flink.turn.ReplyOutput} emits. The task's thread alone uses them.
 */
package io.radixflow.operators.flink.turn;
