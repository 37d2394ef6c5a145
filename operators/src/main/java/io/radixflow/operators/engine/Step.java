package io.radixflow.operators.engine;

import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.StepTicket;
import java.util.Arrays;

/** One step: its batch, its ticket, and whose rows are in it. Reused. */
final class Step {
  final Batch batch = new Batch();
  StepTicket ticket;

  /** When it was submitted. */
  long submittedNanos;

  private int size;
  private Request[] requests = new Request[16];
  private int[] from = new int[16];
  private int[] rows = new int[16];
  private int[] outputs = new int[16];

  void clear() {
    batch.clear();
    ticket = null;
    Arrays.fill(requests, 0, size, null);
    size = 0;
  }

  /** Records a request's chunk; {@code output} is -1 if it asks for no token. */
  void add(Request request, int position, int count, int output) {
    if (size == requests.length) {
      requests = Arrays.copyOf(requests, 2 * size);
      from = Arrays.copyOf(from, 2 * size);
      rows = Arrays.copyOf(rows, 2 * size);
      outputs = Arrays.copyOf(outputs, 2 * size);
    }
    requests[size] = request;
    from[size] = position;
    rows[size] = count;
    outputs[size] = output;
    size++;
  }

  int size() {
    return size;
  }

  Request request(int index) {
    return requests[index];
  }

  /** End of the positions that the request's chunk computes. */
  int end(int index) {
    return from[index] + rows[index];
  }

  int output(int index) {
    return outputs[index];
  }
}
