/**
 * The entry point of jobs: {@link io.radixflow.operators.api.Conversations} serves a stream of a
 * job's own types. {@link io.radixflow.protocol.PublicApi} marks every type that a job may use; the
 * build compares them with a committed baseline.
 */
package io.radixflow.operators.api;
