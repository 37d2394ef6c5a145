package io.radixflow.models.hub;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.models.ModelProgress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DownloadTest {
  @TempDir Path directory;

  /** Lets an hour pass once so many bytes have come. */
  private record LateAfter(long bytes, AtomicLong clock, AtomicLong came) implements ModelProgress {
    LateAfter(long bytes, AtomicLong clock) {
      this(bytes, clock, new AtomicLong());
    }

    @Override
    public void step(String text) {}

    @Override
    public void begin(String what, long totalBytes, long doneBytes) {}

    @Override
    public void advance(long count) {
      if (came.addAndGet(count) == bytes) {
        clock.addAndGet(Duration.ofHours(1).toNanos());
      }
    }

    @Override
    public void end() {}
  }

  @Test
  void aStalledConnectionIsReplacedByAnother() throws Exception {
    byte[] content = new byte[30_000];
    try (FakeHub hub = new FakeHub()) {
      hub.put("a.gguf", content);
      hub.breakAfter = 20_000;
      hub.hangs = new CountDownLatch(1);
      HubClient client = new HubClient(hub.uri());
      HubName name = HubName.parse("owner/name").orElseThrow();
      HubClient.Listing listing = client.list(name);
      AtomicLong now = new AtomicLong();
      new Download(client, new LateAfter(hub.breakAfter, now), Duration.ofMillis(20), now::get)
          .fetch(name, listing.commit(), listing.files().get(0), directory);
      assertThat(hub.requests()).contains("/cdn/a.gguf bytes=20000-");
      hub.hangs.countDown();
    }
    assertThat(directory.resolve("a.gguf")).hasBinaryContent(content);
  }
}
