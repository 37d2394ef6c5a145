package io.radixflow.operators.flink.turn.end;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ConversationEntry;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.text.template.Message;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class ConversationIndexTest {
  private static final String SECRET = "secret plans";

  private static Events message(String session, String turn) {
    return Events.message(session, turn).with(new Message("user", SECRET)).of("acme");
  }

  /** Returns what a compacted topic keeps, without the entries that became tombstones. */
  private static Map<String, ConversationEntry> compacted(ServingHarness h) {
    Map<String, ConversationEntry> kept = new LinkedHashMap<>();
    for (ConversationEntry entry : h.indexed()) {
      String key = entry.tenant() + "/" + entry.session();
      if (entry.title() == null) {
        kept.remove(key);
      } else {
        kept.put(key, entry);
      }
    }
    return kept;
  }

  @Test
  void eachTurnWritesOneEntryWithTheFirstTextOfTheUser() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("s", "t1")).settle();
      h.setProcessingTime(5_000);
      h.send(Events.message("s", "t2").of("acme")).settle();
      assertThat(h.indexed()).extracting(ConversationEntry::turns).containsExactly(1, 2);
      ConversationEntry last = h.indexed().get(1);
      assertThat(last.title()).isEqualTo(SECRET);
      assertThat(last.created()).isEqualTo(h.indexed().get(0).created());
      assertThat(last.updated()).isEqualTo(h.reply("t2").created());
      assertThat(last.model()).isNotEmpty();
    }
  }

  @Test
  void aJobWithoutAnIndexDoesNotLookAtTheSession() {
    ConversationIndex off = new ConversationIndex(null, "sim");
    off.remembered(null, List.of(), null);
    off.removed(null);
  }

  @Test
  void aTurnThatIsRejectedWritesNoEntry() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.control("drain", null, null).send(message("s", "t1")).settle();
      assertThat(h.endings()).containsExactly("t1:rejected");
      assertThat(h.indexed()).isEmpty();
    }
  }

  @Test
  void anErasedOrClosedSessionLeavesATombstoneEvenIfATurnWasRunning() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("erased", "t1"), message("closed", "t1"), message("kept", "t1")).settle();
      h.send(message("erased", "t2"), message("closed", "t2")).generate(2);
      h.send(Events.of(EventKind.ERASE, "erased", "e").of("acme"))
          .send(Events.of(EventKind.CLOSE, "closed", "c").of("acme"))
          .settle();
      assertThat(compacted(h)).containsOnlyKeys("acme/kept");
    }
  }

  @Test
  void anErasedTenantLeavesTombstonesOfAllItsSessions() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("a", "t1"), message("b", "t1"), Events.message("c", "t1").of("beta")).settle();
      h.control("erase_tenant", "acme", null).settle();
      assertThat(compacted(h)).containsOnlyKeys("beta/c");
    }
  }

  @Test
  void anExpiredSessionLeavesATombstone() throws Exception {
    ServingOptions options = Options.with(o -> o.retention = Duration.ofSeconds(10));
    try (ServingHarness h = ServingHarness.opened(options)) {
      h.send(message("s", "t1")).settle();
      assertThat(compacted(h)).containsOnlyKeys("acme/s");
      h.setProcessingTime(60_000);
      assertThat(compacted(h)).isEmpty();
    }
  }

  @Test
  void aTitleIsOneLineThatIsCutBetweenCodePoints() {
    assertThat(ConversationEntry.title("  two\n\tlines ")).isEqualTo("two lines");
    assertThat(ConversationEntry.title("🦊".repeat(2_000))).isEqualTo("🦊".repeat(80));
  }
}
