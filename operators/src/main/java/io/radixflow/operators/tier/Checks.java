package io.radixflow.operators.tier;

import io.radixflow.operators.tier.TierWorker.Kind;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.zip.CRC32C;

/** Checksums of host pages, made and verified on the tiers' threads. Engine thread only. */
final class Checks {
  private final HostTier host;
  private final TierWorker worker;
  private final Misses misses;
  private int pending;

  Checks(HostTier host, TierWorker worker, Misses misses) {
    this.host = host;
    this.worker = worker;
    this.misses = misses;
  }

  /** Pages whose checksums are being made. */
  int pending() {
    return pending;
  }

  /** CRC32C of a page. */
  static int crc(ByteBuffer page) {
    CRC32C crc = new CRC32C();
    crc.update(page);
    return (int) crc.getValue();
  }

  /** How many pages have their checksums, before the first that has not. */
  static int goodPages(ByteBuffer[] pages, int[] sums) {
    int good = 0;
    while (good < pages.length && crc(pages[good].duplicate()) == sums[good]) {
      good++;
    }
    return good;
  }

  private int[] crcs(ByteBuffer[] pages) {
    int[] sums = new int[pages.length];
    for (int i = 0; i < pages.length; i++) {
      sums[i] = crc(pages[i]);
    }
    return sums;
  }

  private ByteBuffer[] buffers(List<HostEntry> entries) {
    return entries.stream().map(host::buffer).toArray(ByteBuffer[]::new);
  }

  /**
   * Makes the checksums of pages that have just been filled, which makes them ready.
   *
   * @param entries locked
   * @param then gets them, still locked
   */
  void sum(List<HostEntry> entries, Consumer<List<HostEntry>> then) {
    ByteBuffer[] pages = buffers(entries);
    pending += pages.length;
    worker.run(
        Kind.SUM,
        () -> crcs(pages),
        null,
        sums -> {
          pending -= pages.length;
          for (int i = 0; i < entries.size(); i++) {
            if (sums == null) {
              host.remove(entries.get(i));
            } else {
              host.ready(entries.get(i), sums[i]);
            }
          }
          then.accept(entries);
        });
  }

  /** Verifies the pages that a retrieval has found in host memory; a bad one is forgotten. */
  void verify(Retrieval retrieval, Runnable then) {
    retrieval.checking = true;
    verify(
        List.copyOf(retrieval.entries),
        good -> {
          retrieval.checking = false;
          retrieval.verified = good;
          if (retrieval.ended) {
            retrieval.entries.forEach(host::unlock);
            retrieval.entries.clear();
          }
          then.run();
        });
  }

  /**
   * Verifies locked pages; a bad one is forgotten.
   *
   * @param then gets how many are good before the first that is not
   */
  void verify(List<HostEntry> entries, IntConsumer then) {
    ByteBuffer[] pages = buffers(entries);
    pending += pages.length;
    worker.run(
        Kind.CHECK,
        () -> crcs(pages),
        new int[0],
        sums -> {
          pending -= pages.length;
          int good = 0;
          while (good < sums.length && sums[good] == entries.get(good).checksum) {
            good++;
          }
          for (int i = good; i < sums.length; i++) {
            if (sums[i] != entries.get(i).checksum) {
              misses.add(MissReason.CHECKSUM, 1);
              host.remove(entries.get(i));
            }
          }
          then.accept(good);
        });
  }
}
