package io.radixflow.operators.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.device.HeapPages;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

class ForgottenTest {
  @Test
  void aPageOfWhichItIsNotKnownWhoseItIsIsNotCopied() {
    HostTier host = new HostTier(new HeapPages(4, 64), 16);
    TierWorker worker = new TierWorker(new LinkedBlockingQueue<Runnable>()::add);
    Forgotten forgotten =
        new Forgotten(host, null, new StoreLink(null, host, worker, new Misses()));
    forgotten.used(null);
    assertThat(forgotten.leaves(null)).isTrue();
    assertThat(worker.stop()).isTrue();
  }
}
