/** Publishes the content of the prefix caches to a compacted topic. */
package io.radixflow.jobs.kvevents;
