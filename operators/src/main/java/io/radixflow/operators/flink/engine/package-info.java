/**
 * The engine of a TaskManager as the serving operator sees it: opening and leasing it, its
 * connection to a subtask, its data directory, and the tiers below its device.
 */
package io.radixflow.operators.flink.engine;
