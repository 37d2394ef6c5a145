package io.radixflow.lab.replay;

import java.util.Arrays;
import java.util.function.Consumer;

/** Counts operations and mismatches of one replay; owned by one thread. */
public final class ReplayReport {
  /** Slots shown on each side of the first difference. */
  private static final int SHOWN = 4;

  private final Consumer<Mismatch> listener;
  private int operations;
  private int mismatches;
  private long matched;
  private long evicted;

  /**
   * @param listener receives each mismatch as it is found
   */
  public ReplayReport(Consumer<Mismatch> listener) {
    this.listener = listener;
  }

  public int operations() {
    return operations;
  }

  /** Returns the number of wrong fields. */
  public int mismatches() {
    return mismatches;
  }

  /** Returns the number of units that all look-ups found. */
  public long matched() {
    return matched;
  }

  /** Returns the number of units that all evictions freed. */
  public long evicted() {
    return evicted;
  }

  void nextOperation() {
    operations++;
  }

  void addMatched(int units) {
    matched += units;
  }

  void addEvicted(int units) {
    evicted += units;
  }

  void compare(String field, int expected, int found) {
    if (expected != found) {
      add(field, Integer.toString(expected), Integer.toString(found));
    }
  }

  void compare(String field, int[] expected, int[] found) {
    int at = Arrays.mismatch(expected, found);
    if (at >= 0) {
      add(field, around(expected, at), around(found, at));
    }
  }

  void add(String field, String expected, String found) {
    mismatches++;
    listener.accept(new Mismatch(operations - 1, field, expected, found));
  }

  private static String around(int[] slots, int at) {
    int from = Math.max(0, at - SHOWN);
    int to = Math.min(slots.length, at + SHOWN + 1);
    String shown = Arrays.toString(Arrays.copyOfRange(slots, from, Math.max(from, to)));
    return slots.length + " slots, from index " + from + " " + shown;
  }
}
