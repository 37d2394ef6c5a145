package io.radixflow.lab.workload;

import io.radixflow.protocol.json.JsonObject;

/**
 * One record of a workload's file, with its position for errors.
 *
 * @param file name of the file
 * @param number of the line, from 1
 * @param time milliseconds since the epoch according to the log, or -1
 * @param bytes the JSON text
 * @param fields the parsed JSON
 */
public record WorkloadLine(String file, long number, long time, byte[] bytes, JsonObject fields) {

  public WorkloadException error(String message) {
    return new WorkloadException(file + ", line " + number + ": " + message);
  }
}
