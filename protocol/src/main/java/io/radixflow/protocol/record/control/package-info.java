/** Control events and their values. Flink state contains the values as text. */
package io.radixflow.protocol.record.control;
