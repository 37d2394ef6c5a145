package io.radixflow.kernels.device;

import java.util.Locale;

/**
 * The memory that there is for this process, in bytes.
 *
 * @param machine memory of the machine
 * @param container the limit of the container or control group; 0 for none
 * @param available what the process may still take of these
 * @param heap what Java's heap may take at most
 * @param heapCommitted what the heap has taken of the machine already
 * @param heapUsed the part of the heap that is in use; garbage counts
 */
public record MemoryStatus(
    long machine, long container, long available, long heap, long heapCommitted, long heapUsed) {

  /** Bytes that the heap can still take within its own limit. */
  public long heapLeft() {
    return heap - heapUsed;
  }

  /** Bytes that the heap can still take within all limits. */
  public long left() {
    return Math.min(heapLeft(), available + heapCommitted - heapUsed);
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
