/** What is in the prefix caches, published to a compacted topic and read back from it. */
package io.radixflow.jobs.kvevents;
