package io.radixflow.operators.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.device.HeapPages;
import io.radixflow.operators.tier.host.HostTier;
import io.radixflow.operators.tier.host.StoreLink;
import io.radixflow.operators.tier.host.TierWorker;
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
