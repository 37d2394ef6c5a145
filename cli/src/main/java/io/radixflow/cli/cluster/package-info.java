/**
 * A Flink cluster and a broker of separate processes on this machine, to serve with or to break.
 */
package io.radixflow.cli.cluster;
