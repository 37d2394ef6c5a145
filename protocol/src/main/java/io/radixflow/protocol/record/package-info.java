/**
 * The records that cross a seam: events, replies and deltas on the wire, and what they embed
 * (usage, tiers, finish reasons, cache hints). They do not depend on engine, cache or Flink. Their
 * messages are {@link io.radixflow.text.template.Message}, which chat templates read. Several
 * records are part of Flink state, which also contains their class names, so a renamed record or
 * field needs a migration.
 */
package io.radixflow.protocol.record;
