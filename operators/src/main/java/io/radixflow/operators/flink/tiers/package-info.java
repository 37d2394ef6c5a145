/**
 * Wires an engine and the tiers below its device to a TaskManager: opens a model's engine with its
 * disk and Flink's file systems, and switches tiers as control events ask. This is the operator's
 * only package that knows the classes of caches and tiers.
 */
package io.radixflow.operators.flink.tiers;
