package io.radixflow.kernels.cuda.weights;

import io.radixflow.models.Tensor;
import java.util.ArrayList;
import java.util.List;

/** Rows of a stacked matrix that have one format on the device. */
record FormatRun(WeightFormat format, int firstRow, int rows) {

  /** Splits stacked tensors into as few runs as their formats allow. */
  static List<FormatRun> of(String name, List<Tensor> tensors) {
    List<FormatRun> runs = new ArrayList<>();
    int row = 0;
    for (Tensor tensor : tensors) {
      WeightFormat format = WeightFormat.of(name, List.of(tensor));
      int last = runs.size() - 1;
      if (last >= 0 && runs.get(last).format == format) {
        FormatRun run = runs.remove(last);
        runs.add(new FormatRun(format, run.firstRow, run.rows + tensor.rows()));
      } else {
        runs.add(new FormatRun(format, row, tensor.rows()));
      }
      row += tensor.rows();
    }
    return runs;
  }

  /** Bytes on the device. */
  long bytes(int columns) {
    return format.bytes(rows, columns);
  }
}
