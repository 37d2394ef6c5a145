/**
 * Turns that were accepted: {@link io.radixflow.operators.flink.turn.run.TurnQueues} has their
 * order, {@link io.radixflow.operators.flink.turn.run.TurnRunner} runs them on the engine and ends
 * each with exactly one reply, and {@link io.radixflow.operators.flink.turn.run.ReplyOutput} emits
 * their records. Only the task's thread uses these classes.
 */
package io.radixflow.operators.flink.turn.run;
