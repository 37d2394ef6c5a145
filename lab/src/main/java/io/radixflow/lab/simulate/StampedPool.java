package io.radixflow.lab.simulate;

import io.radixflow.kernels.device.HeapPages;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.OrderedTransfer;
import io.radixflow.kernels.device.Transfer;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * A pool whose pages contain only a stamp of {@link Long#BYTES} bytes, so that many pages fit into
 * little memory and a misplaced page is still recognised. Copies end immediately.
 */
final class StampedPool implements KvPool {
  private final long[] stamps;

  StampedPool(int pages) {
    stamps = new long[pages];
  }

  long stamp(int page) {
    return stamps[page];
  }

  void stamp(int page, long value) {
    stamps[page] = value;
  }

  @Override
  public int pages() {
    return stamps.length;
  }

  @Override
  public int pageTokens() {
    return 1;
  }

  @Override
  public long pageBytes() {
    return Long.BYTES;
  }

  @Override
  public HostPages openHostPages(int pages) {
    return new HeapPages(pages, Long.BYTES);
  }

  @Override
  public Transfer copyIn(int[] pages, HostPages host, int[] hostPages, int count) {
    return each(count, i -> stamps[pages[i]] = host.buffer(hostPages[i]).getLong(0));
  }

  @Override
  public Transfer copyOut(int[] pages, HostPages host, int[] hostPages, int count) {
    return each(count, i -> host.buffer(hostPages[i]).putLong(0, stamps[pages[i]]));
  }

  private static Transfer each(int count, IntConsumer copy) {
    OrderedTransfer transfer = new OrderedTransfer(() -> IntStream.range(0, count).forEach(copy));
    transfer.run();
    return transfer;
  }

  @Override
  public void close() {}
}
