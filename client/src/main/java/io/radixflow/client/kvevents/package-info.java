/** Reads the content of the prefix caches from its compacted topic. */
package io.radixflow.client.kvevents;
