package io.radixflow.lab.replay;

/**
 * A field whose value is wrong.
 *
 * @param operation number of the operation, from 0
 * @param field name of the field in the trace, or of a value that the trace does not have
 */
public record Mismatch(int operation, String field, String expected, String found) {

  @Override
  public String toString() {
    return "operation " + operation + ", " + field + ": expected " + expected + ", found " + found;
  }
}
