/**
 * The Flink operator that serves conversations. {@link
 * io.radixflow.operators.flink.ServingOperatorFactory} makes it; the packages below hold its turns,
 * its state, its engine, and what outlives failures.
 */
package io.radixflow.operators.flink;
