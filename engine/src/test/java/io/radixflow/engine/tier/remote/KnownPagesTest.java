package io.radixflow.engine.tier.remote;

import static io.radixflow.engine.tier.store.TierPages.chain;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.tier.page.PageId;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class KnownPagesTest {
  private final AtomicLong now = new AtomicLong();
  private final KnownPages known = new KnownPages(2, now::get);
  private final PageId[] ids = chain(1, 3).ids();

  /** Case F15. */
  @Test
  void aPageIsForgottenAfterItsTimeHoweverOftenItIsSeen() {
    known.add(ids[0]);
    now.set(KnownPages.MILLIS - 1);
    known.add(ids[0]);
    assertThat(known.contains(ids[0])).isTrue();
    now.set(KnownPages.MILLIS);
    assertThat(known.contains(ids[0])).isFalse();
  }

  @Test
  void aClockThatIsSetBackKeepsNoPageForLonger() {
    now.set(KnownPages.MILLIS);
    known.add(ids[0]);
    now.set(0);
    assertThat(known.contains(ids[0])).isFalse();
  }

  @Test
  void theOldestPageIsForgottenForMoreThanTheCapacity() {
    known.add(ids[0]);
    known.add(ids[1]);
    known.add(ids[2]);
    assertThat(known.contains(ids[0])).isFalse();
    known.remove(ids[1]);
    assertThat(known.contains(ids[1])).isFalse();
    assertThat(known.contains(ids[2])).isTrue();
  }
}
