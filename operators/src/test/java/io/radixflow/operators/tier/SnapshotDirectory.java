package io.radixflow.operators.tier;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/** A directory of which copies can be made that are of one moment, as RocksDB makes them. */
final class SnapshotDirectory implements PageDirectory {
  private final HeapDirectory heap = new HeapDirectory();
  private final Map<Long, Coverage> coverages = new TreeMap<>();

  /** A copy of what it has now. */
  synchronized SnapshotDirectory copy() {
    SnapshotDirectory copy = new SnapshotDirectory();
    copy.put(entries(), List.copyOf(coverages.values()));
    return copy;
  }

  synchronized List<Entry> entries() {
    List<Entry> entries = new ArrayList<>();
    heap.forEach(entries::add);
    return entries;
  }

  @Override
  public synchronized Entry get(PageId id) {
    return heap.get(id);
  }

  @Override
  public synchronized int get(PageId[] chain, int from, int to, Entry[] into) {
    return heap.get(chain, from, to, into);
  }

  @Override
  public synchronized boolean put(List<Entry> entries, List<Coverage> covered) {
    covered.forEach(coverage -> coverages.put(coverage.segment(), coverage));
    return heap.put(entries, List.of());
  }

  @Override
  public synchronized Coverage coverage(long segment) {
    return coverages.get(segment);
  }

  @Override
  public synchronized void uncover(long segment) {
    coverages.remove(segment);
  }

  @Override
  public synchronized void uncoverOthers(Set<Long> segments) {
    coverages.keySet().retainAll(segments);
  }

  @Override
  public synchronized void remove(List<PageId> pages) {
    heap.remove(pages);
  }

  @Override
  public void forEach(Consumer<Entry> visitor) {
    entries().forEach(visitor);
  }

  @Override
  public synchronized long size() {
    return heap.size();
  }

  @Override
  public synchronized void clear() {
    coverages.clear();
    heap.clear();
  }

  @Override
  public void close() {}
}
