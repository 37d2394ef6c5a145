package io.radixflow.gateway.live;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kvevents.KvEventRecord;
import io.radixflow.client.kvevents.KvEventsReader;
import io.radixflow.client.kvevents.KvEventsView;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.record.kv.KvTier;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** The radix tree of all engines, from the topic of KV events. */
final class CacheTreeSource implements LiveSampler.Source {

  /** The most blocks to keep, about 40 MB. */
  private static final int MAX_BLOCKS = 100_000;

  /** The most nodes to show. */
  private static final int MAX_NODES = 240;

  /** The most namespaces with a number; further namespaces have the number 0. */
  private static final int MAX_SPACES = 1000;

  /** An engine that has not announced itself for this time has ended or is disconnected. */
  private static final long SILENT_MILLIS = 60_000;

  private final KvEventsReader reader;
  private final long salt = new SecureRandom().nextLong();
  private final Map<String, Integer> spaces = new HashMap<>();

  /**
   * @param reader the reader of the topic; this source closes it. Null in tests of {@link #show}
   */
  CacheTreeSource(KvEventsReader reader) {
    this.reader = reader;
    spaces.put("", 0);
  }

  static CacheTreeSource open(Settings settings) {
    return new CacheTreeSource(new KvEventsReader(settings, MAX_BLOCKS));
  }

  @Override
  public byte[] sample(BooleanSupplier stopped) {
    return Json.write(show(reader.readToEnd(stopped), MAX_NODES, System.currentTimeMillis()));
  }

  /**
   * Returns the trees as JSON. It contains no hashes; namespaces have numbers.
   *
   * @param maxNodes the most nodes of all engines together
   */
  ObjectNode show(KvEventsView view, int maxNodes, long now) {
    ObjectNode shown = Json.object().put("status", "ok").put("skipped", view.skipped());
    ArrayNode engines = shown.putArray("engines");
    int left = maxNodes;
    for (String name : view.engines()) {
      KvEventsView.EngineView engine = view.engine(name);
      if (engine.last().state() != KvEventRecord.State.CLOSED) {
        CacheTree tree = CacheTree.of(name, view);
        ObjectNode one = engines.addObject().put("name", name);
        one.put("state", engine.last().state().name().toLowerCase(Locale.ROOT));
        one.put("silent", now - engine.lastSeen() > SILENT_MILLIS);
        one.put("block_size", engine.last().blockSize());
        left -= add(one, tree, left, engine.last().blockSize());
      }
    }
    return shown;
  }

  private int add(ObjectNode engine, CacheTree tree, int maxNodes, int blockSize) {
    List<CacheTree.Node> nodes = tree.largest(maxNodes);
    engine.put("nodes_total", tree.size()).put("tokens_total", tree.blocks() * blockSize);
    ArrayNode array = engine.putArray("nodes");
    for (CacheTree.Node node : nodes) {
      ObjectNode one = array.addObject();
      one.put("id", Long.toHexString(mixed(node.id() ^ salt)));
      one.put("parent", node.parentIndex());
      one.put("start", node.firstBlock() * blockSize);
      one.put("tokens", node.blockCount() * blockSize);
      one.put("below", (node.subtreeBlocks() - node.blockCount()) * blockSize);
      one.put("ends", node.ends());
      one.put("space", space(node.namespace()));
      one.put("stored_at", node.storedAt());
      one.put("hidden", node.hidden()).put("hidden_tokens", node.hiddenBlocks() * blockSize);
      ArrayNode tiers = one.putArray("tiers");
      for (KvTier tier : KvTier.values()) {
        if (node.isIn(tier)) {
          tiers.add(tier.name().toLowerCase(Locale.ROOT));
        }
      }
    }
    return nodes.size();
  }

  /**
   * Returns a mix of all bits (splitmix64), so that ids on the page do not reveal the hashes of
   * blocks.
   */
  private static long mixed(long bits) {
    long once = (bits ^ bits >>> 30) * 0xbf58476d1ce4e5b9L;
    long twice = (once ^ once >>> 27) * 0x94d049bb133111ebL;
    return twice ^ twice >>> 31;
  }

  private int space(String namespace) {
    Integer number = spaces.get(namespace);
    if (number == null && spaces.size() < MAX_SPACES) {
      number = spaces.size();
      spaces.put(namespace, number);
    }
    return number == null ? 0 : number;
  }

  @Override
  public void close() {
    reader.close();
  }
}
