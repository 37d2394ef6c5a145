package io.radixflow.lab.device;

import io.radixflow.models.Attention;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.GraphTensors;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The least bytes and operations of steps of a model's shape. */
public final class StepWork {
  /** The name of a block's matrix; the second group exists only for matrices of experts. */
  private static final Pattern BLOCK =
      Pattern.compile(
          "blk\\.(\\d+)\\.(?:[a-z_]+|attn_[a-z_]+\\.\\d+|ffn_[a-z]+(\\.\\d+))\\.weight");

  private StepWork() {}

  /**
   * Returns the number of weights that a step of {@code rows} rows reads: all except the embedding,
   * and at most as many experts as its rows choose.
   */
  public static double weights(ModelConfig config, int rows) {
    double sum = (double) config.hiddenSize() * config.vocabSize();
    for (Map.Entry<String, GraphTensors.Shape> tensor : GraphTensors.of(config).entrySet()) {
      GraphTensors.Shape shape = tensor.getValue();
      Matcher block = BLOCK.matcher(tensor.getKey());
      if (block.matches() && !shape.vector()) {
        double elements = (double) shape.rows() * shape.columns();
        Layer layer = config.layer(Integer.parseInt(block.group(1)));
        boolean expert = block.group(2) != null;
        sum += expert ? elements * share((Experts) layer.feedForward(), rows) : elements;
      }
    }
    return sum;
  }

  private static double share(Experts experts, int rows) {
    return Math.min(1, (double) rows * experts.chosen() / experts.count());
  }

  /**
   * Returns the operations of the matrix products of {@code rows} rows, of which {@code outputs}
   * rows are sampled.
   */
  public static double flops(ModelConfig config, int rows, int outputs) {
    double head = (double) config.vocabSize() * config.hiddenSize();
    return 2 * (rows * (weights(config, 1) - head) + outputs * head);
  }

  static double attentionFlops(ModelConfig config, int rows, int context) {
    double sum = 0;
    for (Layer layer : config.blocks()) {
      Attention attention = layer.attention();
      int values = attention instanceof Latent latent ? latent.kvRank() : attention.valueWidth();
      sum += 2.0 * rows * context * attention.heads() * (attention.keyWidth() + values);
    }
    return sum;
  }
}
