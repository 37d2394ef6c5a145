package io.radixflow.cli.command.topic;

import io.radixflow.client.kvevents.KvEventRecord;
import io.radixflow.client.kvevents.KvEventsView;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import java.io.PrintWriter;
import java.util.Collection;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * A table with a line for each engine and tier: the amount of cached data and the number of
 * namespaces.
 *
 * @param now milliseconds since the epoch
 */
record CacheContentTable(KvEventsView view, long now) {
  private static final String ROW = "%-32s %-8s %7s %-8s %10s %12s %11s %10s%n";

  void print(PrintWriter out) {
    out.printf(
        Locale.ROOT,
        ROW,
        "engine",
        "state",
        "epoch",
        "medium",
        "blocks",
        "tokens",
        "namespaces",
        "seen");
    for (String engine : view.engines()) {
      for (KvTier tier : KvTier.values()) {
        Collection<KvEvent.Stored> blocks = view.blocks(engine, tier).values();
        if (tier == KvTier.DEVICE || !blocks.isEmpty()) {
          print(out, engine, tier, blocks);
        }
      }
    }
  }

  private void print(PrintWriter out, String name, KvTier tier, Collection<KvEvent.Stored> blocks) {
    KvEventsView.EngineView engine = view.engine(name);
    KvEventRecord.Engine last = engine.last();
    out.printf(
        Locale.ROOT,
        ROW,
        name,
        last.state().name().toLowerCase(Locale.ROOT),
        last.epoch(),
        tier.name().toLowerCase(Locale.ROOT),
        blocks.size(),
        (long) blocks.size() * last.blockSize(),
        blocks.stream().map(KvEvent.Stored::namespace).distinct().count(),
        TimeUnit.MILLISECONDS.toSeconds(Math.max(0, now - engine.lastSeen())) + " s ago");
  }
}
