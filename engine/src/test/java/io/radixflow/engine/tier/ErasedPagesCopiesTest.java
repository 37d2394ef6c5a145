package io.radixflow.engine.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.tier.host.HostTier;
import io.radixflow.engine.tier.host.StoreLink;
import io.radixflow.engine.tier.host.TierWorker;
import io.radixflow.kernels.device.HeapPages;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

class ErasedPagesCopiesTest {
  @Test
  void aPageWhoseTenantIsNotKnownIsNotCopied() {
    HostTier host = new HostTier(new HeapPages(4, 64), 16);
    TierWorker worker = new TierWorker(new LinkedBlockingQueue<Runnable>()::add);
    ErasedPages erased = new ErasedPages(host, null, new StoreLink(null, host, worker));
    erased.used(null);
    assertThat(erased.isErased(null)).isTrue();
    assertThat(worker.stop()).isTrue();
  }
}
