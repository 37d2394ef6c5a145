/** A broker, a Flink cluster and the job in this process, and a client to talk to it. */
package io.radixflow.cli.local;
