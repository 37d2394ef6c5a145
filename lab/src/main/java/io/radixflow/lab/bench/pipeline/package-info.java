/** Measures the time that Kafka and Flink add to the first text of a reply, and its parts. */
package io.radixflow.lab.bench.pipeline;
