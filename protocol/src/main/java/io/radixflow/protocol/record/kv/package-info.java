/** The events that prefix caches publish: their changes, and the tiers where these happen. */
package io.radixflow.protocol.record.kv;
