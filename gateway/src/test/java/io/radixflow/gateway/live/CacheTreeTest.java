package io.radixflow.gateway.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.client.kvevents.KvEventRecord;
import io.radixflow.client.kvevents.KvEventWriter;
import io.radixflow.client.kvevents.KvEventsView;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CacheTreeTest {

  private static final String ENGINE = "vm-0";
  private static final long NOW = 1_000_000;

  private KvEventsView view = new KvEventsView();

  @BeforeEach
  void announce() {
    announce(KvEventRecord.State.LIVE);
  }

  private void announce(KvEventRecord.State state) {
    apply(
        KvEventRecord.Engine.key(ENGINE),
        new KvEventRecord.Engine(ENGINE, 1, 0, state, 16, "epoch"));
  }

  private void apply(String key, KvEventRecord record) {
    view.apply(0, key, KvEventWriter.write(record), 0, NOW);
  }

  private void store(KvTier tier, String namespace, long block, Long parent) {
    apply(
        KvEventRecord.Block.key(ENGINE, tier, block),
        new KvEventRecord.Block(
            ENGINE, 1, 1, new KvEvent.Stored(tier, namespace, block, parent, 16, null)));
  }

  /** Stores the blocks from one to another, each below the one before it. */
  private void chain(Long parent, long from, long to) {
    Long above = parent;
    for (long block = from; block <= to; block++) {
      store(KvTier.DEVICE, "", block, above);
      above = block;
    }
  }

  private JsonNode show(int maxNodes) {
    return new CacheTreeSource(null).show(view, maxNodes, NOW).at("/engines/0");
  }

  @Test
  void aPrefixThatTwoConversationsShareIsOneNodeWithTwoBelow() {
    chain(null, 1, 10);
    chain(10L, 11, 13);
    chain(10L, 21, 22);
    JsonNode engine = show(100);
    assertThat(engine.at("/nodes_total").asInt()).isEqualTo(3);
    assertThat(engine.at("/tokens_total").asInt()).isEqualTo(15 * 16);
    JsonNode shared = engine.at("/nodes/0");
    assertThat(shared.at("/parent").asInt()).isEqualTo(-1);
    assertThat(shared.at("/tokens").asInt()).isEqualTo(160);
    assertThat(shared.at("/below").asInt()).isEqualTo(80);
    assertThat(shared.at("/ends").asInt()).isEqualTo(2);
    assertThat(shared.at("/stored_at").asLong()).isEqualTo(NOW);
    JsonNode longer = engine.at("/nodes/1");
    assertThat(longer.at("/parent").asInt()).isZero();
    assertThat(longer.at("/start").asInt()).isEqualTo(160);
    assertThat(longer.at("/tokens").asInt()).isEqualTo(48);
    assertThat(longer.at("/ends").asInt()).isEqualTo(1);
  }

  @Test
  void blocksInOtherTiersAreNodesOfTheirOwn() {
    chain(null, 1, 4);
    store(KvTier.HOST, "", 1, null);
    store(KvTier.HOST, "", 2, 1L);
    JsonNode engine = show(100);
    assertThat(engine.at("/nodes/0/tiers").toString()).isEqualTo("[\"device\",\"host\"]");
    assertThat(engine.at("/nodes/0/tokens").asInt()).isEqualTo(32);
    assertThat(engine.at("/nodes/1/tiers").toString()).isEqualTo("[\"device\"]");
  }

  @Test
  void namespacesAreNumberedAndNeitherTheyNorBlocksAreNamed() {
    store(KvTier.DEVICE, "5a17ed", 987_654_321, null);
    store(KvTier.DEVICE, "", 5, null);
    JsonNode engine = show(100);
    assertThat(engine.findValues("space").stream().map(JsonNode::asInt))
        .containsExactlyInAnyOrder(0, 1);
    assertThat(engine.toString())
        .doesNotContain("5a17ed")
        .doesNotContain("987654321")
        .doesNotContain(Long.toHexString(987_654_321));
  }

  @Test
  void theLargestNodesAreShownAndTheOthersCounted() {
    chain(null, 1, 10);
    for (int i = 1; i <= 50; i++) {
      chain(10L, 1000 * i, 1000 * i + i - 1);
    }
    JsonNode engine = show(11);
    assertThat(engine.at("/nodes").size()).isEqualTo(11);
    assertThat(engine.at("/nodes_total").asInt()).isEqualTo(51);
    assertThat(engine.at("/nodes/0/hidden").asInt()).isEqualTo(40);
    assertThat(engine.at("/nodes/0/hidden_tokens").asInt()).isEqualTo(40 * 41 / 2 * 16);
    assertThat(engine.at("/nodes/1/tokens").asInt()).isEqualTo(50 * 16);
  }

  @Test
  void blocksWhoseParentsFormACircleAreLeftOut() {
    store(KvTier.DEVICE, "", 1, 2L);
    store(KvTier.DEVICE, "", 2, 1L);
    store(KvTier.DEVICE, "", 3, 3L);
    chain(null, 10, 11);
    assertThat(show(100).at("/nodes_total").asInt()).isEqualTo(1);
  }

  @Test
  void aTreeAsDeepAsALongConversationIsShown() {
    chain(null, 1, 50_000);
    for (long block = 2; block < 50_000; block += 2) {
      store(KvTier.HOST, "", block, block - 1);
    }
    JsonNode engine = show(240);
    assertThat(engine.at("/nodes").size()).isEqualTo(240);
    assertThat(engine.at("/tokens_total").asInt()).isEqualTo(50_000 * 16);
  }

  @Test
  void aFullViewSaysThatBlocksAreMissing() {
    view = new KvEventsView(3);
    announce();
    chain(null, 1, 5);
    JsonNode shown = new CacheTreeSource(null).show(view, 10, NOW);
    assertThat(shown.at("/skipped").asInt()).isEqualTo(2);
    assertThat(shown.at("/engines/0/tokens_total").asInt()).isEqualTo(48);
    view.apply(0, KvEventRecord.Block.key(ENGINE, KvTier.DEVICE, 3), null, 1, NOW);
    chain(2L, 7, 8);
    assertThat(show(10).at("/tokens_total").asInt()).isEqualTo(48);
  }

  @Test
  void anEngineThatHasEndedIsNotShownAndASilentOneIsMarked() {
    chain(null, 1, 2);
    assertThat(show(10).at("/silent").asBoolean()).isFalse();
    JsonNode later = new CacheTreeSource(null).show(view, 10, NOW + 600_000);
    assertThat(later.at("/engines/0/silent").asBoolean()).isTrue();
    announce(KvEventRecord.State.CLOSED);
    assertThat(show(10).isMissingNode()).isTrue();
  }
}
