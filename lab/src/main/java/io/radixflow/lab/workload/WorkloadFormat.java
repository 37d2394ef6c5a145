package io.radixflow.lab.workload;

import java.io.IOException;

/** Takes the records of one kind of workload, in the order of its files. */
interface WorkloadFormat {

  /** Takes the next record. */
  void add(WorkloadLine line) throws IOException;

  /** The whole, after the last record. */
  Workload finish() throws IOException;
}
