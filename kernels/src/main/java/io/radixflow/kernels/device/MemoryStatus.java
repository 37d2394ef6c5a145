package io.radixflow.kernels.device;

import java.util.Locale;

/**
 * The memory of this process and its machine, in bytes.
 *
 * @param machine memory of the machine
 * @param container the limit of the container or control group; 0 for none
 * @param available memory of the machine and container that the process may still allocate
 * @param heap maximum size of Java's heap
 * @param heapCommitted memory that the heap has already allocated from the machine
 * @param heapUsed the used part of the heap, garbage included
 */
public record MemoryStatus(
    long machine, long container, long available, long heap, long heapCommitted, long heapUsed) {

  /** Returns the bytes that the heap can still use within its own limit. */
  public long heapLeft() {
    return heap - heapUsed;
  }

  /** Returns the bytes that the heap can still use within all limits. */
  public long left() {
    return Math.min(heapLeft(), available + heapCommitted - heapUsed);
  }

  /** Returns the bytes outside the heap that remain even if the heap takes all it may. */
  public long leftOutside() {
    return Math.max(0, available - (heap - heapCommitted));
  }

  /** Returns all numbers in one line. */
  public String text() {
    return String.format(
        Locale.ROOT,
        "Java's heap may take %d MB, of which %d MB are in use; the machine has %d MB,%s of which"
            + " %d MB are available",
        heap >> 20,
        heapUsed >> 20,
        machine >> 20,
        container == 0 ? "" : " the container's limit is " + (container >> 20) + " MB,",
        available >> 20);
  }
}
