/**
 * The commands {@code bench job} and {@code bench state}: the cost of a turn and of a session for
 * the job.
 */
package io.radixflow.lab.bench.job;
