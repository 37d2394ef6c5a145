package io.radixflow.lab.workload;

import java.io.IOException;

/** Converts the records of one workload format, in the order of its files. */
interface WorkloadFormat {

  /** Adds the next record. */
  void add(WorkloadLine line) throws IOException;

  /** Returns the workload, after the last record. */
  Workload finish() throws IOException;
}
