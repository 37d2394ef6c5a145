package io.radixflow.engine.tier.host;

import io.radixflow.engine.tier.host.TierWorker.Kind;
import io.radixflow.engine.tier.page.MissReason;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.zip.CRC32C;

/** Checksums of host pages, computed and verified on the tiers' threads. Engine thread only. */
public final class Checksums {
  private final HostTier host;
  private final TierWorker worker;
  private int pending;

  public Checksums(HostTier host, TierWorker worker) {
    this.host = host;
    this.worker = worker;
  }

  /** Returns the number of pages whose checksums are being computed. */
  public int pending() {
    return pending;
  }

  public static int crc(ByteBuffer page) {
    CRC32C crc = new CRC32C();
    crc.update(page);
    return (int) crc.getValue();
  }

  /** Returns how many pages have the right checksum, before the first page with a wrong one. */
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

  private ByteBuffer[] buffers(List<HostPage> entries) {
    return entries.stream().map(host::buffer).toArray(ByteBuffer[]::new);
  }

  /**
   * Computes the checksums of pages that have just been filled, which makes them ready.
   *
   * @param entries locked
   * @param then receives the pages, still locked
   */
  public void sum(List<HostPage> entries, Consumer<List<HostPage>> then) {
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

  /**
   * Verifies pages, which stay locked during the check; a bad page is removed from host memory.
   *
   * @param then receives the number of good pages before the first bad page, while all are still
   *     locked
   */
  public void verify(List<HostPage> pages, IntConsumer then) {
    List<HostPage> all = List.copyOf(pages);
    ByteBuffer[] bytes = buffers(all);
    pending += bytes.length;
    all.forEach(host::lock);
    worker.run(
        Kind.CHECK,
        () -> crcs(bytes),
        new int[0],
        sums -> {
          pending -= bytes.length;
          int good = 0;
          while (good < sums.length && sums[good] == all.get(good).checksum) {
            good++;
          }
          for (int i = good; i < sums.length; i++) {
            if (sums[i] != all.get(i).checksum) {
              host.misses().add(MissReason.CHECKSUM, 1);
              host.remove(all.get(i));
            }
          }
          then.accept(good);
          all.forEach(host::unlock);
        });
  }
}
