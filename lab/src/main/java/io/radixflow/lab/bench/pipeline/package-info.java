/** What Kafka and Flink add to the time to the first text of a reply, and where. */
package io.radixflow.lab.bench.pipeline;
