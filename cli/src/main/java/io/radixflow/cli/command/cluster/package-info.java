/** Commands that start or submit the job: up, run, cluster, submit. */
package io.radixflow.cli.command.cluster;
