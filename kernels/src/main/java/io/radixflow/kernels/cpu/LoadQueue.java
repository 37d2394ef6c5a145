package io.radixflow.kernels.cpu;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.function.LongConsumer;

/**
 * Gives the threads that load matrices their next work: fill panels of an allocated matrix, or else
 * allocate another matrix. Allocation also takes time, because the system clears each new page when
 * it is first touched; so threads allocate in parallel as well.
 *
 * <p>Few matrices are open at a time, because some keep their source bytes in memory.
 */
final class LoadQueue {

  /** Matrices that are allocated and not complete, at most. */
  static final int MOST_OPEN = 4;

  /** Bytes of the panels that a thread takes at once: less than a millisecond's work. */
  private static final long PIECE_BYTES = 2 << 20;

  private final Deque<MatrixLoad> waiting;
  private final Deque<Filling> filling = new ArrayDeque<>();
  private final LongConsumer loaded;
  private int open;
  private boolean failed;

  /**
   * An allocated matrix, its next panel to hand out, and the number of panels that are not filled
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

  /** What one thread is to do: fill panels from {@code from}, or allocate (no {@code filling}). */
  private record Task(MatrixLoad load, Filling filling, int from, int to) {}

  /**
   * @param loads in the order in which they begin
   * @param loaded receives the bytes of each matrix that is complete, from one thread at a time
   */
  LoadQueue(Collection<MatrixLoad> loads, LongConsumer loaded) {
    waiting = new ArrayDeque<>(loads);
    this.loaded = loaded;
  }

  /**
   * Works until all is loaded or another thread has failed; called by each thread that helps.
   *
   * @param filler the thread's own
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

  /** Waits for a task; null if there will be none. Keeps an interrupt, which the next read sees. */
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
