package io.radixflow.jobs.kvevents;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.protocol.record.kv.KvEvent;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class KvEventQueueTest {
  private int calls;
  private final KvEventQueue queue = new KvEventQueue(3, () -> calls++);

  private static List<KvEvent> changes(int count) {
    return Collections.nCopies(count, new KvEvent.Cleared());
  }

  @Test
  void nothingIsTakenBeforeThePublisherIsReadyAndThenASnapshotFirst() throws Exception {
    assertThat(queue.wantsSnapshot()).isFalse();
    assertThat(queue.offerSnapshot(List.of())).isFalse();
    assertThat(queue.offer(changes(1))).isFalse();
    queue.start();
    assertThat(calls).isEqualTo(1);
    assertThat(queue.offer(changes(1))).isFalse();
    assertThat(queue.wantsSnapshot()).isTrue();
    assertThat(queue.offerSnapshot(List.of())).isTrue();
    assertThat(queue.wantsSnapshot()).isFalse();
    assertThat(queue.offer(changes(1))).isTrue();
    assertThat(queue.take(0).snapshot()).isTrue();
    assertThat(queue.take(0).events()).hasSize(1);
    assertThat(queue.take(0)).isNull();
  }

  @Test
  void anOverflowIsFollowedByASnapshotOnceWhatWaitedIsTaken() throws Exception {
    queue.start();
    queue.offerSnapshot(List.of());
    assertThat(queue.offer(changes(2))).isTrue();
    assertThat(queue.offer(changes(2))).isFalse();
    assertThat(queue.offer(changes(1))).as("a change was lost: later ones are void").isFalse();
    assertThat(queue.wantsSnapshot()).isFalse();
    assertThat(queue.take(0).snapshot()).isTrue();
    assertThat(queue.take(0).events()).hasSize(2);
    assertThat(calls).isEqualTo(1);
    assertThat(queue.take(0)).isNull();
    assertThat(calls).isEqualTo(2);
    assertThat(queue.offerSnapshot(List.of())).isTrue();
    assertThat(queue.offer(changes(3))).isTrue();
  }

  @Test
  void aPublisherThatLostEventsStartsAgainWithASnapshot() throws Exception {
    queue.start();
    queue.offerSnapshot(List.of());
    queue.offer(changes(3));
    queue.restart();
    assertThat(queue.offer(changes(1))).isFalse();
    queue.start();
    assertThat(queue.take(0)).isNull();
    assertThat(queue.offerSnapshot(List.of())).isTrue();
    assertThat(queue.offer(changes(3))).isTrue();
  }

  @Test
  void aClosedQueueTakesNothingAndWakesThePublisher() throws Exception {
    queue.start();
    queue.close();
    assertThat(queue.offerSnapshot(List.of())).isFalse();
    assertThat(queue.take(60_000)).isNotNull();
    queue.restart();
    assertThat(queue.isClosed()).isTrue();
  }
}
