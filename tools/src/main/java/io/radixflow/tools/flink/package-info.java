/** What every Flink that this project starts on a user's machine shares, in one process or many. */
package io.radixflow.tools.flink;
