package io.radixflow.kernels.model.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DownloadTest {
  @TempDir Path directory;

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
      new Download(client, ModelProgress.NONE, Duration.ofMillis(200))
          .fetch(name, listing.commit(), listing.files().get(0), directory);
      assertThat(hub.requests()).contains("/cdn/a.gguf bytes=20000-");
      hub.hangs.countDown();
    }
    assertThat(directory.resolve("a.gguf")).hasBinaryContent(content);
  }
}
