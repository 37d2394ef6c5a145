package io.radixflow.tools.cli.model;

/** The free pages of a pool whose owner knows how many it needs. */
final class PageStack {
  private final int[] free;
  private int count;

  PageStack(int pages) {
    free = new int[pages];
    for (int page = pages - 1; page >= 0; page--) {
      free[count++] = page;
    }
  }

  int take() {
    return free[--count];
  }

  void give(int page) {
    free[count++] = page;
  }
}
