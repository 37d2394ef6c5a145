/** The job's sources and sinks on Kafka, and the checks of Kafka at its start. */
package io.radixflow.jobs.kafka;
