/**
 * Finds replies that the output accepted and never committed, and emits them again. {@link
 * io.radixflow.operators.flink.recovery.UnconfirmedReplies} is the operator's side. {@link
 * io.radixflow.operators.flink.recovery.LostReplies} is the interface that an output implements.
 */
package io.radixflow.operators.flink.recovery;
