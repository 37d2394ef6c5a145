package io.radixflow.engine.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.ReplyProgress;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class ReplyRingTest {

  @Test
  void offsetsContinueFromWhereTheReplyWas() {
    ReplyRing ring = new ReplyRing(4, false);
    ring.startAt(10, 3, 7);
    assertThat(ring.take()).isNull();
    ring.put(1, "a\uD83D\uDE00", null);
    ring.put(2, "", null);
    ReplyProgress first = ring.take();
    assertThat(first.tokenOffset()).isEqualTo(3);
    assertThat(first.textOffset()).isEqualTo(7);
    assertThat(first.tokens()).containsExactly(1, 2);
    assertThat(first.finish()).isNull();
    ring.end(FinishReason.STOP, "z", "stop", null, null);
    ReplyProgress last = ring.take();
    assertThat(last.tokenOffset()).isEqualTo(5);
    assertThat(last.textOffset()).isEqualTo(9);
    assertThat(last.text()).isEqualTo("z");
    assertThat(last.stop()).isEqualTo("stop");
    assertThat(last.usage()).isEqualTo(new Usage(10, 0, 5));
    assertThat(ring.take()).isNull();
  }

  @Test
  void aFullRingHasRoomAgainAfterItIsTaken() {
    ReplyRing ring = new ReplyRing(4, false);
    for (int i = 0; i < 4; i++) {
      assertThat(ring.room()).isEqualTo(4 - i);
      ring.put(i, "x", null);
    }
    assertThat(ring.room()).isZero();
    ring.take();
    assertThat(ring.room()).isEqualTo(4);
  }

  @Test
  void aReaderBesideTheWriterSeesEveryTokenOnceAndInOrder() throws InterruptedException {
    int count = 200_000;
    ReplyRing ring = new ReplyRing(16, false);
    Thread writer =
        new Thread(
            () -> {
              for (int i = 0; i < count; i++) {
                while (ring.room() == 0) {
                  Thread.yield();
                }
                ring.put(i, "x", null);
              }
              ring.end(FinishReason.LENGTH, "", null, null, null);
            });
    writer.start();
    List<Integer> seen = new ArrayList<>();
    FinishReason finish = null;
    while (finish == null) {
      ReplyProgress progress = ring.take();
      if (progress == null) {
        Thread.yield();
        continue;
      }
      assertThat(progress.tokenOffset()).isEqualTo(seen.size());
      IntStream.of(progress.tokens()).forEach(seen::add);
      finish = progress.finish();
    }
    writer.join();
    assertThat(seen).isEqualTo(IntStream.range(0, count).boxed().toList());
  }

  @Test
  void aPromptThatGoesOnIsProgressOnceAndNeverMoreThanThePrompt() {
    ReplyRing ring = new ReplyRing(4, false);
    ring.startAt(10, 0, 0);
    assertThat(ring.take()).isNull();
    ring.prefilled(6);
    assertThat(ring.take().promptDone()).isEqualTo(6);
    assertThat(ring.take()).isNull();
    ring.prefilled(12);
    assertThat(ring.take().promptDone()).isEqualTo(10);
  }
}
