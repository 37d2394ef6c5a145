/**
 * The commands {@code bench job} and {@code bench state}: what a turn and a session cost the job.
 */
package io.radixflow.lab.bench.job;
