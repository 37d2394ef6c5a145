/**
 * Wires an engine and the tiers below its device to a TaskManager: opens a model's engine with its
 * disk and Flink's file systems, and switches tiers as control events say. The only package of the
 * operator that knows classes of caches and tiers.
 */
package io.radixflow.operators.flink.tiers;
