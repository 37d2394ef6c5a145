/** Where pages of keys and values are, and the events that prefix caches publish about them. */
package io.radixflow.protocol.record.kv;
