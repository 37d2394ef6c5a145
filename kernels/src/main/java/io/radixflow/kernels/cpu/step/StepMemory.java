package io.radixflow.kernels.cpu.step;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.KernelProvider;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.StepBuffer;

/** Computes the memory that the buffers of steps need. */
public final class StepMemory {

  /** Rows of logits that a step usually keeps at once, at most. */
  private static final int LOGITS_ROWS = 64;

  private StepMemory() {}

  /** Bytes of logits and tables of a step, in the heap. */
  public static long heapBytes(ModelConfig config) {
    long logits = (LOGITS_ROWS + 1L) * config.vocabSize();
    long rope = (long) config.contextLength() * config.headDim();
    return Float.BYTES * (logits + rope);
  }

  /**
   * Bytes of the rows of a step with the largest number of rows and the longest context, which
   * native kernels need outside the heap.
   */
  public static long rowBytes(ModelConfig config) {
    long row = 0;
    long widest = 0;
    for (StepBuffer buffer : StepBuffer.values()) {
      row += buffer.width(config) + PANEL;
      widest = Math.max(widest, buffer.width(config));
    }
    long chosen = 0;
    for (Layer layer : config.blocks()) {
      if (layer.feedForward() instanceof Experts experts) {
        long each = 3L * experts.expert().width() + config.hiddenSize();
        chosen = Math.max(chosen, experts.chosen() * each);
      }
    }
    long rows = StepRunner.MAX_ROWS + MatmulRegion.SPARE_ROWS;
    long logits = (OutputStage.ROWS + MatmulRegion.SPARE_ROWS) * (long) config.vocabSize();
    int workers = Runtime.getRuntime().availableProcessors();
    long scores = AttentionRegion.scores(config, workers, config.contextLength());
    boolean shared = KernelProvider.nativeKernels().isPresent();
    long packed = shared ? widest : widest * workers;
    return Float.BYTES * (rows * (row + packed + chosen) + logits + scores);
  }
}
