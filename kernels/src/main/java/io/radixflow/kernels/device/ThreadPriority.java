package io.radixflow.kernels.device;

/** How much of a core a compute thread of the CPU gets that another thread wants, too; on Linux. */
public enum ThreadPriority {
  /** A tenth: nice value 10. */
  NICE,

  /**
   * Next to nothing, as {@code SCHED_IDLE}. Threads that wake get a core at once. In return,
   * another busy process of the same control group all but stops the engine.
   */
  IDLE
}
