package io.radixflow.engine.tier.loadback;

import io.radixflow.engine.tier.host.HostPage;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.store.PageStore;
import java.util.BitSet;
import java.util.function.Consumer;
import java.util.function.IntPredicate;

/**
 * The window parts of a load-back's pages that are in host memory, locked and verified. Pages can
 * be used up to an end if the pages of the window before that end have their parts. Engine thread
 * only, except {@link #storedEnd}.
 */
final class LoadedWindows {
  /** The first page that the device did not have. */
  private final int first;

  private final int endPages;
  private final HostPage[] parts;

  LoadedWindows(int first, int limit, int endPages) {
    this.first = first;
    this.endPages = endPages;
    this.parts = new HostPage[endPages == 0 ? 0 : Math.max(0, limit - first)];
  }

  int first() {
    return first;
  }

  int endPages() {
    return endPages;
  }

  boolean has(int page) {
    return part(page) != null;
  }

  HostPage part(int page) {
    return parts[page - first];
  }

  /** Stores the part of a page. The caller has verified and locked it. */
  void put(int page, HostPage part) {
    parts[page - first] = part;
  }

  /** Returns the first page before {@code end} whose part a request needs to continue there. */
  int from(int end) {
    return Math.max(first, end - endPages);
  }

  /**
   * Returns the greatest end, at most {@code end}, whose window has all of its parts here.
   *
   * @param devicePages pages on the device, which also has the parts of the window before their end
   */
  int usableEnd(int devicePages, int end) {
    return usableEnd(devicePages, end, endPages, this::has);
  }

  /** Returns the greatest such end for the parts that {@code has} accepts. */
  int usableEnd(int end, IntPredicate has) {
    return usableEnd(first, end, endPages, has);
  }

  static int usableEnd(int devicePages, int end, int endPages, IntPredicate has) {
    int usable = end;
    int run = 0;
    for (int page = end - 1; page >= devicePages && run < endPages; page--) {
      if (has.test(page)) {
        run++;
      } else {
        run = 0;
        usable = page;
      }
    }
    return Math.max(devicePages, usable);
  }

  /**
   * Asks a store for parts; runs on the store's thread.
   *
   * @param onHost pages whose parts are in host memory
   * @return the last end up to {@code end} whose window has all of its parts in the store or on the
   *     host
   */
  int storedEnd(PageStore source, PageChain chain, int end, BitSet onHost) {
    PageId[] backwards = new PageId[Math.max(0, end - first)];
    for (int i = 0; i < backwards.length; i++) {
      backwards[i] = chain.id(end - 1 - i).window();
    }
    BitSet stored = new BitSet();
    int[] asked = {end};
    return usableEnd(
        end,
        page -> {
          if (!onHost.get(page) && page < asked[0]) {
            int at = end - 1 - page;
            int to = Math.min(backwards.length, at + endPages);
            int found = source.find(backwards, at, to);
            stored.set(page - found + 1, page + 1);
            asked[0] = page - Math.min(found, to - at - 1);
          }
          return onHost.get(page) || stored.get(page);
        });
  }

  /** Passes all parts to {@code unlock} and forgets them. */
  void release(Consumer<HostPage> unlock) {
    for (int i = 0; i < parts.length; i++) {
      if (parts[i] != null) {
        unlock.accept(parts[i]);
        parts[i] = null;
      }
    }
  }
}
