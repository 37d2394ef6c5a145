package io.radixflow.kernels.device;

/**
 * The share of a core that a CPU compute thread gets while another thread also wants the core; on
 * Linux.
 */
public enum ThreadPriority {
  /** A tenth: nice value 10. */
  NICE,

  /**
   * Next to nothing, as {@code SCHED_IDLE}. Threads that wake get a core at once. In return,
   * another busy process of the same control group all but stops the engine.
   */
  IDLE
}
