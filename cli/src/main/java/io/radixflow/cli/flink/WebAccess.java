package io.radixflow.cli.flink;

/** Who may change something through Flink's web port; every process of the machine may read. */
public enum WebAccess {
  /**
   * Nothing is taken, neither code nor commands that write files: the process that started Flink
   * submits by itself. Programs of this machine may cancel a job.
   */
  NO_SUBMISSION,
  /** Flink's command line and other programs of this machine may submit, stop and cancel jobs. */
  LOCAL_PROGRAMS
}
