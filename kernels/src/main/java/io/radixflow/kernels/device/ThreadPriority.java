package io.radixflow.kernels.device;

/**
 * The share of a core that a CPU compute thread gets while another thread wants the same core.
 * Linux only.
 */
public enum ThreadPriority {
  /** A tenth: nice value 10. */
  NICE,

  /**
   * Almost nothing, as {@code SCHED_IDLE}. Other threads that wake up get a core at once. On the
   * other hand, a busy process in the same control group almost stops the engine.
   */
  IDLE
}
