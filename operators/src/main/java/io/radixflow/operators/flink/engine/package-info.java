/**
 * The engine of a TaskManager as the serving operator has it: how it is opened and leased, its
 * connection to a subtask, its data directory, and the tiers below its device.
 */
package io.radixflow.operators.flink.engine;
