package io.radixflow.kernels.cpu.step;

import java.util.Arrays;

/**
 * The tasks of a region over the panels of one or more products. Each task is a run of panels of
 * one product. Panels are in the order in which they were added.
 *
 * <p>Owned by the dispatcher; reused.
 */
final class PanelTasks {

  private final int workers;

  private int left;
  private int least;
  private int most;

  private int count;
  private int[] products = new int[64];
  private int[] firsts = new int[64];
  private int[] ends = new int[64];

  /**
   * @param workers number of workers that share the tasks
   */
  PanelTasks(int workers) {
    this.workers = workers;
  }

  /**
   * Begins a list of tasks that become shorter, so that workers end together (guided
   * self-scheduling, Polychronopoulos and Kuck 1987).
   *
   * @param panels number of panels of all products that will be added
   * @param least fewest panels per task, except in the last task of each product
   */
  void beginShrinking(int panels, int least) {
    begin(panels, least, Integer.MAX_VALUE);
  }

  /**
   * Begins a list of tasks of equal length.
   *
   * @param length panels per task, except in the last task of each product
   */
  void beginEven(int length) {
    begin(0, length, length);
  }

  private void begin(int panels, int least, int most) {
    left = panels;
    this.least = least;
    this.most = most;
    count = 0;
  }

  /** Splits the panels of a product into tasks. */
  void add(int product, int panels) {
    for (int panel = 0; panel < panels; ) {
      int run = Math.min(most, Math.max(least, left / (2 * workers)));
      run = Math.min(run, panels - panel);
      append(product, panel, panel + run);
      panel += run;
      left -= run;
    }
  }

  private void append(int product, int first, int end) {
    if (count == products.length) {
      products = Arrays.copyOf(products, 2 * count);
      firsts = Arrays.copyOf(firsts, 2 * count);
      ends = Arrays.copyOf(ends, 2 * count);
    }
    products[count] = product;
    firsts[count] = first;
    ends[count++] = end;
  }

  /** Number of tasks. */
  int count() {
    return count;
  }

  /** The product of a task. */
  int product(int task) {
    return products[task];
  }

  /** The first panel of a task. */
  int first(int task) {
    return firsts[task];
  }

  /** The panel after a task's last panel. */
  int end(int task) {
    return ends[task];
  }
}
