/** The job: its graph, its Flink configuration and its entry point on a cluster. */
package io.radixflow.jobs;
