package io.radixflow.lab.replay;

/**
 * A field whose value is wrong.
 *
 * @param operation number of the operation, from 0
 * @param field by its name in the trace, or what is compared beyond the trace
 */
public record Mismatch(int operation, String field, String expected, String found) {

  @Override
  public String toString() {
    return "operation " + operation + ", " + field + ": expected " + expected + ", found " + found;
  }
}
