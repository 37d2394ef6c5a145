package io.radixflow.operators.flink.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.session.SessionSlot;
import io.radixflow.protocol.record.GenerationOptions;
import org.junit.jupiter.api.Test;

class RecentSlotsTest {
  private final RecentSlots slots = new RecentSlots(2);

  private static SessionSlot slot(int lastEvent) {
    return SessionSlot.NEW.touched(null, lastEvent);
  }

  @Test
  void theLastSlotOfASessionIsKept() {
    slots.put("a", slot(1));
    slots.put("a", slot(2));
    assertThat(slots.get("a")).isEqualTo(slot(2));
    assertThat(slots.get("b")).isNull();
  }

  @Test
  void theSlotThatWasUsedLeastRecentlyLeaves() {
    slots.put("a", slot(1));
    slots.put("b", slot(2));
    slots.get("a");
    slots.put("c", slot(3));
    assertThat(slots.get("a")).isNotNull();
    assertThat(slots.get("b")).isNull();
    assertThat(slots.get("c")).isNotNull();
  }

  @Test
  void aSlotWhoseOptionsMayBeLargeIsNotKept() {
    slots.put("a", slot(1));
    GenerationOptions options = GenerationOptions.greedy(4);
    slots.put("a", slot(2).opened("", "", false, options, 0));
    assertThat(slots.get("a")).isNull();
  }

  @Test
  void aSlotThatIsRemovedIsGone() {
    slots.put("a", slot(1));
    slots.remove("a");
    slots.put("b", slot(2));
    slots.put("b", null);
    assertThat(slots.get("a")).isNull();
    assertThat(slots.get("b")).isNull();
  }
}
