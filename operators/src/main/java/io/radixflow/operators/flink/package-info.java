/**
 * The Flink operator that serves conversations. {@link
 * io.radixflow.operators.flink.ServingOperatorFactory} creates it. Subpackages contain its turns,
 * its state, its engine, and its recovery from failures.
 */
package io.radixflow.operators.flink;
