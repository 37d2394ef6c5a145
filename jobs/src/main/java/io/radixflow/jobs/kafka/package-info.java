/** What the job reads from and writes to Kafka, and the checks at its start. */
package io.radixflow.jobs.kafka;
