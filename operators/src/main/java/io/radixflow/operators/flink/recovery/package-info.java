/**
 * Finds replies that the output took and never committed, and emits them again. {@link
 * io.radixflow.operators.flink.recovery.UnconfirmedReplies} is the operator's side, {@link
 * io.radixflow.operators.flink.recovery.LostReplies} what an output has to implement.
 */
package io.radixflow.operators.flink.recovery;
