package io.radixflow.cli.flink;

/** Defines who may make changes through Flink's web port. Every process of the machine may read. */
public enum WebAccess {
  /**
   * The port accepts neither code nor commands that write files, because the process that started
   * Flink submits the job directly. Programs of this machine may cancel a job.
   */
  NO_SUBMISSION,
  /** Flink's command line and other programs of this machine may submit, stop and cancel jobs. */
  LOCAL_PROGRAMS
}
