package io.radixflow.cli.local;

import io.radixflow.engine.model.SimClock;

/** A simulated model's clock that a test can stop, so that replies stay unfinished. */
final class HeldClock implements SimClock {
  private boolean held;
  private int left;

  /** Lets some more steps pass, and then none. */
  synchronized void holdAfter(int steps) {
    held = true;
    left = steps;
  }

  /** Lets all steps pass. */
  synchronized void release() {
    held = false;
    notifyAll();
  }

  @Override
  public void pass(long nanos) {
    awaitTurn();
    SimClock.SYSTEM.pass(nanos);
  }

  private synchronized void awaitTurn() {
    try {
      while (held && left == 0) {
        wait();
      }
      left = Math.max(0, left - 1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
