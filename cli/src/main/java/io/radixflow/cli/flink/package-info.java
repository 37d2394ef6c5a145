/** Parts that every Flink started on a user's machine shares, in one process or many. */
package io.radixflow.cli.flink;
