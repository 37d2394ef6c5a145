/** A broker, a Flink cluster and the job in this process, and a client of the job. */
package io.radixflow.cli.local;
