/**
 * The records that cross a seam: events, replies, deltas and control events on the wire, and what
 * they embed (usage, tiers, finish reasons, cache hints). They know nothing of engine, cache or
 * Flink; several are part of Flink state, so a renamed field needs a migration.
 */
package io.radixflow.operators.record;
