/** Kafka clients of all kinds, and the headers of records. */
package io.radixflow.client.kafka;
