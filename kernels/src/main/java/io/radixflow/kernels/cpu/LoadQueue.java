package io.radixflow.kernels.cpu;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.function.LongConsumer;

/**
 * Gives the loading threads their next task: fill panels of an allocated matrix, or allocate
 * another matrix. Allocation also runs in parallel, because the system clears each new page when it
 * is first touched, which takes time.
 *
 * <p>Only a few matrices are open at a time, because some keep their source bytes in memory.
 */
final class LoadQueue {

  /** The largest number of matrices that are allocated but not complete. */
  static final int MOST_OPEN = 4;

  /** Bytes of panels per task. A task takes less than a millisecond. */
  private static final long PIECE_BYTES = 2 << 20;

  private final Deque<MatrixLoad> waiting;
  private final Deque<Filling> filling = new ArrayDeque<>();
  private final LongConsumer loaded;
  private int open;
  private boolean failed;

  /**
   * An allocated matrix, its next panel to assign, and the number of panels that are not filled
   * yet.
   */
  private static final class Filling {
    final MatrixLoad load;
    final int piece;
    int next;
    int left;

    Filling(MatrixLoad load) {
      this.load = load;
      left = load.panels().count();
      piece = (int) Math.max(1, PIECE_BYTES * left / Math.max(1, load.bytes()));
    }
  }

  /**
   * A task of one thread: fill panels {@code from} to before {@code to} of {@code filling}; if
   * {@code filling} is null, allocate {@code load}.
   */
  private record Task(MatrixLoad load, Filling filling, int from, int to) {}

  /**
   * @param loads the matrices, in the order in which to begin them
   * @param loaded receives the size in bytes of each complete matrix; called by one thread at a
   *     time
   */
  LoadQueue(Collection<MatrixLoad> loads, LongConsumer loaded) {
    waiting = new ArrayDeque<>(loads);
    this.loaded = loaded;
  }

  /**
   * Runs tasks until everything is loaded or another thread has failed. Each loading thread calls
   * this.
   *
   * @param filler used only by the calling thread
   */
  void work(PanelFiller filler) {
    try {
      for (Task task; (task = next()) != null; ) {
        if (task.filling == null) {
          task.load.open();
          opened(task.load);
          continue;
        }
        for (int panel = task.from; panel < task.to; panel++) {
          task.load.fill(panel, filler);
        }
        filled(task.filling, task.to - task.from);
      }
    } catch (RuntimeException | Error e) {
      fail();
      throw e;
    }
  }

  /**
   * Waits for a task; returns null if there will be none. An interrupt does not end the wait; its
   * flag stays set for the next read.
   */
  private synchronized Task next() {
    boolean interrupted = false;
    try {
      while (!failed && (open > 0 || !waiting.isEmpty())) {
        if (!filling.isEmpty()) {
          return piece(filling.peek());
        }
        if (!waiting.isEmpty() && open < MOST_OPEN) {
          open++;
          return new Task(waiting.poll(), null, 0, 0);
        }
        try {
          wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      return null;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private Task piece(Filling some) {
    int from = some.next;
    int count = some.load.panels().count();
    some.next = Math.min(count, from + some.piece);
    if (some.next == count) {
      filling.remove();
    }
    return new Task(some.load, some, from, some.next);
  }

  private synchronized void opened(MatrixLoad load) {
    filling.add(new Filling(load));
    notifyAll();
  }

  private synchronized void filled(Filling some, int panels) {
    some.left -= panels;
    if (some.left == 0) {
      some.load.close();
      open--;
      loaded.accept(some.load.bytes());
      notifyAll();
    }
  }

  private synchronized void fail() {
    failed = true;
    notifyAll();
  }
}
