package io.radixflow.operators.engine;

import io.radixflow.operators.cache.PageAllocator;
import io.radixflow.operators.cache.PageAudit;
import io.radixflow.operators.cache.RadixCache;
import io.radixflow.operators.cache.ReqToTokenPool;
import io.radixflow.operators.cache.SessionAwareCache;
import java.util.List;
import java.util.function.IntConsumer;

/** Compares who is recorded to own each page with who has it. Engine thread only. */
final class PageOwners {
  private final PageAudit audit;
  private final SessionAwareCache sessions;
  private final ReqToTokenPool tables;
  private final TierLoads tiers;

  PageOwners(
      PageAllocator allocator,
      RadixCache cache,
      SessionAwareCache sessions,
      ReqToTokenPool tables,
      TierLoads tiers) {
    this.audit = new PageAudit(allocator, cache);
    this.sessions = sessions;
    this.tables = tables;
    this.tiers = tiers;
  }

  boolean countersAgree() {
    return audit.countersAgree();
  }

  /** Checks every page, of the host, too; repairs those of the device and returns how many. */
  int repair(List<Request> holders) {
    int wrong = tiers.audit() ? 0 : 1;
    return wrong
        + audit.repair(visitor -> visitInFlight(holders, visitor), sessions::forEachSessionPage);
  }

  private void visitInFlight(List<Request> holders, IntConsumer visitor) {
    holders.forEach(holder -> visitTable(holder, visitor));
    for (Request request : tiers.loading()) {
      if (!holders.contains(request)) {
        visitTable(request, visitor);
      }
    }
    tiers.forEachLeavingPage(visitor);
  }

  private void visitTable(Request holder, IntConsumer visitor) {
    int[] table = tables.pages(holder.row);
    for (int i = 0; i < holder.pages; i++) {
      visitor.accept(table[i]);
    }
  }
}
