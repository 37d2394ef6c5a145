/** Control events, and what their values say. Flink state has what they set, as text. */
package io.radixflow.protocol.record.control;
