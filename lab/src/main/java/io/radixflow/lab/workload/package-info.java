/**
 * Converts recorded and made-up traffic to requests for the cache's simulation: readers of public
 * trace formats and of the job's own topics.
 */
package io.radixflow.lab.workload;
