package io.radixflow.operators.tier.remote;

import static io.radixflow.operators.tier.store.TierPages.chain;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.tier.page.PageId;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class KnownPagesTest {
  /** Case F15. */
  @Test
  void knownPagesAreForgottenAfterTheirTimeHoweverOftenSeen() {
    AtomicLong now = new AtomicLong();
    KnownPages known = new KnownPages(2, 100, now::get);
    PageId[] ids = chain(1, 3).ids();
    known.add(ids[0]);
    now.set(99);
    known.add(ids[0]);
    assertThat(known.contains(ids[0])).isTrue();
    now.set(100);
    assertThat(known.contains(ids[0])).isFalse();
  }

  @Test
  void pagesKnownForEverGoOnlyForRoomOrWhenRemoved() {
    AtomicLong now = new AtomicLong();
    KnownPages forEver = new KnownPages(2, -1, now::get);
    PageId[] ids = chain(1, 3).ids();
    forEver.add(ids[0]);
    now.set(Long.MAX_VALUE);
    assertThat(forEver.contains(ids[0])).isTrue();
    forEver.add(ids[1]);
    forEver.add(ids[2]);
    assertThat(forEver.contains(ids[0])).isFalse();
    forEver.remove(ids[1]);
    assertThat(forEver.contains(ids[1])).isFalse();
  }
}
