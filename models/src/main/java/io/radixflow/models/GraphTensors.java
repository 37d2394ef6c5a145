package io.radixflow.models;

import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.Attention.QkNorm;
import io.radixflow.models.FeedForward.Dense;
import io.radixflow.models.FeedForward.Experts;
import java.util.LinkedHashMap;
import java.util.Map;

/** The tensors that the forward graph of a configuration reads, with their shapes. */
public final class GraphTensors {

  /**
   * @param rows number of outputs; 1 for a vector
   * @param columns number of inputs, or the length of a vector
   * @param vector whether it is a vector
   */
  public record Shape(int rows, int columns, boolean vector) {
    @Override
    public String toString() {
      return vector ? Integer.toString(columns) : rows + " x " + columns;
    }
  }

  private final int hidden;
  private final Map<String, Shape> shapes = new LinkedHashMap<>();

  private GraphTensors(ModelConfig config) {
    hidden = config.hiddenSize();
  }

  /** Returns the shapes by canonical name, in the order of the graph. */
  public static Map<String, Shape> of(ModelConfig config) {
    GraphTensors tensors = new GraphTensors(config);
    tensors.matrix("token_embd", config.vocabSize(), config.hiddenSize(), false);
    for (int layer = 0; layer < config.layers(); layer++) {
      tensors.block(config.layer(layer), "blk." + layer + ".");
    }
    tensors.vector("output_norm.weight", config.hiddenSize());
    if (!config.tiedEmbedding()) {
      tensors.matrix("output", config.vocabSize(), config.hiddenSize(), false);
    }
    return tensors.shapes;
  }

  private void block(Layer layer, String prefix) {
    norm(prefix + "attn_norm", layer.norms().beforeAttention());
    if (layer.attention() instanceof Grouped grouped) {
      grouped(grouped, prefix);
    } else {
      latent((Latent) layer.attention(), prefix);
    }
    norm(prefix + "post_attention_norm", layer.norms().after());
    norm(prefix + "ffn_norm", layer.norms().beforeFeedForward());
    if (layer.feedForward() instanceof Dense dense) {
      mlp(dense, prefix, "");
    } else {
      experts((Experts) layer.feedForward(), prefix);
    }
    norm(prefix + "post_ffw_norm", layer.norms().after());
  }

  private void grouped(Grouped attention, String prefix) {
    int queries = attention.heads() * attention.headDim();
    int keys = attention.kvHeads() * attention.headDim();
    matrix(prefix + "attn_q", queries, hidden, attention.qkvBias());
    matrix(prefix + "attn_k", keys, hidden, attention.qkvBias());
    matrix(prefix + "attn_v", keys, hidden, attention.qkvBias());
    if (attention.qkNorm() != QkNorm.NONE) {
      boolean head = attention.qkNorm() == QkNorm.HEAD;
      vector(prefix + "attn_q_norm.weight", head ? attention.headDim() : queries);
      vector(prefix + "attn_k_norm.weight", head ? attention.headDim() : keys);
    }
    if (attention.scores().sinks()) {
      vector(prefix + "attn_sinks.weight", attention.heads());
    }
    matrix(prefix + "attn_output", hidden, queries, attention.outputBias());
  }

  private void latent(Latent attention, String prefix) {
    int heads = attention.heads();
    int queries = heads * attention.queryDim();
    if (attention.queryRank() > 0) {
      matrix(prefix + "attn_q_a", attention.queryRank(), hidden, attention.bias());
      vector(prefix + "attn_q_a_norm.weight", attention.queryRank());
      matrix(prefix + "attn_q_b", queries, attention.queryRank(), false);
    } else {
      matrix(prefix + "attn_q", queries, hidden, false);
    }
    matrix(prefix + "attn_kv_a_mqa", attention.keyWidth(), hidden, attention.bias());
    vector(prefix + "attn_kv_a_norm.weight", attention.kvRank());
    for (int head = 0; head < heads; head++) {
      matrix(prefix + "attn_k_b." + head, attention.kvRank(), attention.plainDim(), false);
      matrix(prefix + "attn_v_b." + head, attention.valueDim(), attention.kvRank(), false);
    }
    matrix(prefix + "attn_output", hidden, heads * attention.valueDim(), attention.bias());
  }

  private void mlp(Dense shape, String prefix, String suffix) {
    matrix(prefix + "ffn_gate" + suffix, shape.width(), hidden, shape.bias());
    matrix(prefix + "ffn_up" + suffix, shape.width(), hidden, shape.bias());
    matrix(prefix + "ffn_down" + suffix, hidden, shape.width(), shape.bias());
  }

  private void experts(Experts experts, String prefix) {
    matrix(prefix + "ffn_gate_inp", experts.count(), hidden, experts.router().bias());
    if (experts.router().correction()) {
      vector(prefix + "exp_probs_b.bias", experts.count());
    }
    for (int expert = 0; expert < experts.count(); expert++) {
      mlp(experts.expert(), prefix, "." + expert);
    }
    if (experts.sharedWidth() > 0) {
      mlp(experts.shared(), prefix, "_shexp");
    }
    if (experts.sharedGated()) {
      matrix(prefix + "ffn_gate_inp_shexp", 1, hidden, false);
    }
  }

  private void norm(String name, boolean present) {
    if (present) {
      vector(name + ".weight", hidden);
    }
  }

  private void vector(String name, int length) {
    shapes.put(name, new Shape(1, length, true));
  }

  private void matrix(String name, int rows, int columns, boolean bias) {
    shapes.put(name + ".weight", new Shape(rows, columns, false));
    if (bias) {
      vector(name + ".bias", rows);
    }
  }
}
