package io.radixflow.models.file;

import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.GraphTensors;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.file.GgufArchitecture.Trait;
import io.radixflow.models.file.format.GgufFile;
import io.radixflow.models.file.format.GgufTensor;
import java.util.Map;

/** Finds the tensors of the graph in a GGUF file. */
final class GgufParts {

  /**
   * Consecutive rows of a stored tensor: one expert, one head, or one of several projections that
   * the file stores as one tensor.
   *
   * @param stored the tensor in the file
   * @param first the first row
   * @param rows number of rows of the whole stored tensor; 0 if the graph uses the whole tensor
   * @param stack the number of matrices in the stored tensor's third dimension; 0 for none
   * @param transposed whether these rows are the columns of the graph's tensor
   */
  record Part(String stored, int first, long rows, int stack, boolean transposed) {

    static Part whole(String stored) {
      return new Part(stored, 0, 0, 0, false);
    }

    static Part rows(String stored, long first, long rows) {
      return new Part(stored, (int) first, rows, 0, false);
    }

    /** One of {@code count} matrices with {@code rows} rows each. */
    static Part ofStack(String stored, int index, int rows, int count) {
      return new Part(stored, index * rows, (long) count * rows, count, false);
    }
  }

  /** A tensor with the gate projection of each expert, followed by its up projection. */
  static final String GATE_AND_UP = "ffn_gate_up_exps";

  private final ModelConfig config;
  private final Map<String, GgufTensor> tensors;
  private final boolean secondNormIsPost;
  private final long storedLayers;

  GgufParts(ModelConfig config, GgufFile file) {
    this.config = config;
    tensors = file.tensors();
    storedLayers = file.metadata().integer(config.architecture() + ".block_count");
    secondNormIsPost =
        GgufArchitecture.of(config.architecture(), new SupportedShapes(config.name()))
            .has(Trait.SECOND_NORM_NAMED_POST);
  }

  /** Returns whether a tensor belongs to an extra layer after the last one, which drafts tokens. */
  boolean isSpare(String stored) {
    int end = stored.startsWith("blk.") ? stored.indexOf('.', 4) : -1;
    String layer = end < 0 ? "" : stored.substring(4, end);
    if (!layer.matches("[0-9]{1,6}")) {
      return false;
    }
    int number = Integer.parseInt(layer);
    return number >= config.layers() && number < storedLayers;
  }

  /**
   * Returns which part of the file stores a tensor of the graph. Does not check whether the file
   * contains the part.
   */
  Part part(String name, GraphTensors.Shape shape) {
    if (!name.startsWith("blk.")) {
      return Part.whole(name);
    }
    int start = name.indexOf('.', 4) + 1;
    String prefix = name.substring(0, start);
    String suffix = name.substring(name.lastIndexOf('.'));
    String kind = name.substring(start, name.length() - suffix.length());
    Layer layer = config.layer(Integer.parseInt(name.substring(4, start - 1)));
    int rows = shape.vector() ? shape.columns() : shape.rows();
    if (kind.equals("ffn_norm") && secondNormIsPost) {
      return Part.whole(prefix + "post_attention_norm" + suffix);
    }
    if (kind.matches("ffn_(gate|up)") && fusesGate(prefix, rows)) {
      int first = kind.equals("ffn_up") ? rows : 0;
      return Part.rows(prefix + "ffn_up" + suffix, first, 2L * rows);
    }
    if (tensors.containsKey(name)) {
      return Part.whole(name);
    }
    int number = kind.indexOf('.');
    if (number > 0) {
      int index = Integer.parseInt(kind.substring(number + 1));
      String one = kind.substring(0, number);
      String both = prefix + GATE_AND_UP + suffix;
      if (one.matches("ffn_(gate|up)") && tensors.containsKey(both)) {
        int experts = ((Experts) layer.feedForward()).count();
        int first = index * 2 * rows + (one.equals("ffn_up") ? rows : 0);
        return new Part(both, first, 2L * experts * rows, experts, false);
      }
      return one.startsWith("ffn_")
          ? expert(prefix + one + "_exps" + suffix, (Experts) layer.feedForward(), index, rows)
          : head(prefix, one, (Latent) layer.attention(), index, rows);
    }
    String fused = prefix + "attn_qkv" + suffix;
    boolean fuses = kind.matches("attn_[qkv]") && tensors.containsKey(fused);
    return fuses && layer.attention() instanceof Grouped attention
        ? projection(fused, kind, attention)
        : Part.whole(name);
  }

  private static Part expert(String stored, Experts experts, int expert, int rows) {
    return Part.ofStack(stored, expert, rows, experts.count());
  }

  /**
   * Files made before 2025 store keys and values of all heads in one matrix, with keys not
   * transposed.
   */
  private Part head(String prefix, String kind, Latent attention, int head, int rows) {
    String fused = prefix + "attn_kv_b.weight";
    String split = prefix + kind + ".weight";
    if (tensors.containsKey(split) || !tensors.containsKey(fused)) {
      return Part.ofStack(split, head, rows, attention.heads());
    }
    long both = attention.plainDim() + attention.valueDim();
    long first = head * both;
    return kind.equals("attn_k_b")
        ? new Part(fused, (int) first, attention.heads() * both, 0, true)
        : Part.rows(fused, first + attention.plainDim(), attention.heads() * both);
  }

  private static Part projection(String fused, String kind, Grouped attention) {
    int queries = attention.heads() * attention.headDim();
    int keys = attention.kvHeads() * attention.headDim();
    int first = kind.equals("attn_q") ? 0 : kind.equals("attn_k") ? queries : queries + keys;
    return Part.rows(fused, first, queries + 2L * keys);
  }

  /** Returns whether a layer stores its gate projection and its up projection in one tensor. */
  private boolean fusesGate(String prefix, int rows) {
    GgufTensor up = tensors.get(prefix + "ffn_up.weight");
    return up != null
        && up.dimensions().length == 2
        && up.dimensions()[1] == 2L * rows
        && !tensors.containsKey(prefix + "ffn_gate.weight");
  }
}
