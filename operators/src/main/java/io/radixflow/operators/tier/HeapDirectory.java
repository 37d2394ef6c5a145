package io.radixflow.operators.tier;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** A directory in the heap, about 250 bytes a page; it dies with the process. */
public final class HeapDirectory implements PageDirectory {
  private final ConcurrentHashMap<PageId, Entry> entries = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Long, Coverage> coverages = new ConcurrentHashMap<>();

  @Override
  public Entry get(PageId id) {
    return entries.get(id);
  }

  @Override
  public int get(PageId[] chain, int from, int to, Entry[] into) {
    for (int i = from; i < to; i++) {
      into[i] = entries.get(chain[i]);
      if (into[i] == null) {
        return i - from;
      }
    }
    return to - from;
  }

  @Override
  public synchronized boolean put(List<Entry> added, List<Coverage> covered) {
    for (Entry entry : added) {
      entries.put(entry.page().id(), entry);
    }
    for (Coverage coverage : covered) {
      coverages.put(coverage.segment(), coverage);
    }
    return true;
  }

  @Override
  public Coverage coverage(long segment) {
    return coverages.get(segment);
  }

  @Override
  public void uncover(long segment) {
    coverages.remove(segment);
  }

  @Override
  public void uncoverOthers(Set<Long> segments) {
    coverages.keySet().retainAll(segments);
  }

  @Override
  public void remove(List<PageId> pages) {
    for (PageId page : pages) {
      entries.remove(page);
    }
  }

  @Override
  public void forEach(Consumer<Entry> visitor) {
    entries.values().forEach(visitor);
  }

  @Override
  public long size() {
    return entries.mappingCount();
  }

  @Override
  public void clear() {
    entries.clear();
    coverages.clear();
  }

  @Override
  public void close() {}
}
