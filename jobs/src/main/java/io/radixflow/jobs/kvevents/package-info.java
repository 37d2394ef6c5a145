/** Publishes the content of the prefix caches to a compacted topic, and reads it back. */
package io.radixflow.jobs.kvevents;
