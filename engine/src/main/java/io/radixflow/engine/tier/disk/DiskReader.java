package io.radixflow.engine.tier.disk;

import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.store.PageCodec;
import io.radixflow.engine.tier.store.TransferThreads;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadPoolExecutor;
import org.rocksdb.RocksDBException;

/** Reads and verifies the pages of a disk tier, several at a time. Any thread. */
final class DiskReader implements AutoCloseable {
  /** Threads that one read uses, including the caller's. */
  private static final int THREADS = 4;

  private final PageDatabase database;
  private final PageCodec codec;
  private final ThreadPoolExecutor threads = TransferThreads.open("disk-tier-reader", THREADS - 1);

  /** Free buffers of {@link PageCodec#maxBytes}. */
  private final ConcurrentLinkedQueue<ByteBuffer> buffers = new ConcurrentLinkedQueue<>();

  DiskReader(PageDatabase database, PageCodec codec) {
    this.database = database;
    this.codec = codec;
  }

  /**
   * The result of a read.
   *
   * @param pages number of pages that were read before the first failure
   * @param miss why the next page could not be read; null if all pages were read
   */
  record Result(int pages, MissReason miss) {}

  /** Takes a buffer with room for an encoded page; the caller must give it back. */
  ByteBuffer takeBuffer() {
    ByteBuffer free = buffers.poll();
    return free == null ? ByteBuffer.allocateDirect(codec.maxBytes()) : free;
  }

  void giveBack(ByteBuffer buffer) {
    buffers.add(buffer);
  }

  /** Reads pages {@code from .. to-1} of a chain into buffers of the same indexes. */
  Result read(PageId[] chain, String[] namespaces, int from, int to, ByteBuffer[] into) {
    int step = (to - from + THREADS - 1) / THREADS;
    List<CompletableFuture<Result>> others = new ArrayList<>();
    for (int at = from + step; at < to; at += step) {
      int begin = at;
      int end = Math.min(to, at + step);
      others.add(
          CompletableFuture.supplyAsync(
              () -> readPart(chain, namespaces, begin, end, into), threads));
    }
    Result all;
    try {
      all = readPart(chain, namespaces, from, Math.min(to, from + step), into);
    } finally {
      // the caller reuses the buffers afterwards, so all threads must have finished
      CompletableFuture.allOf(others.toArray(CompletableFuture[]::new))
          .exceptionally(e -> null)
          .join();
    }
    for (CompletableFuture<Result> other : others) {
      if (all.miss() == null) {
        all = new Result(all.pages() + other.join().pages(), other.join().miss());
      }
    }
    return all;
  }

  private Result readPart(
      PageId[] chain, String[] namespaces, int from, int to, ByteBuffer[] into) {
    ByteBuffer buffer = takeBuffer();
    try {
      for (int i = from; i < to; i++) {
        MissReason miss = readPage(chain, i, namespaces[i], buffer, into[i]);
        if (miss != null) {
          return new Result(i - from, miss);
        }
      }
      return new Result(to - from, null);
    } finally {
      giveBack(buffer);
    }
  }

  private MissReason readPage(
      PageId[] chain, int i, String namespace, ByteBuffer buffer, ByteBuffer into) {
    try {
      int length = database.readPage(DiskIndex.pageKey(chain[i]), buffer);
      if (length < 0) {
        return MissReason.ABSENT;
      }
      return length > buffer.capacity()
          ? MissReason.DIGEST
          : codec.decode(buffer, chain, i, namespace, into);
    } catch (RocksDBException e) {
      return PageDatabase.reason(e);
    }
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
