package io.radixflow.engine.model;

import java.util.concurrent.locks.LockSupport;

/** Lets simulated step time pass; called on the backend's thread. */
@FunctionalInterface
public interface SimClock {

  /** Parks the thread in real time. */
  SimClock SYSTEM =
      nanos -> {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
          if (Thread.currentThread().isInterrupted()) {
            return;
          }
          LockSupport.parkNanos(left);
        }
      };

  /** Returns when {@code nanos} have passed on this clock. */
  void pass(long nanos);
}
