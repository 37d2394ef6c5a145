/**
 * The records that cross a seam: events, replies and deltas on the wire, and what they embed
 * (usage, tiers, finish reasons, cache hints). They know nothing of engine, cache or Flink; several
 * are part of Flink state, which also has their class names, so a renamed record or field needs a
 * migration.
 */
package io.radixflow.protocol.record;
