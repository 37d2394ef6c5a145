/**
 * The Flink operator that serves conversations. {@link
 * io.radixflow.operators.flink.ServingOperatorFactory} makes it, {@link
 * io.radixflow.operators.flink.ServingOutputs} names its side outputs; the rest is its own.
 */
package io.radixflow.operators.flink;
