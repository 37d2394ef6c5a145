package io.radixflow.models.file;

import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelConfig.Norm;
import io.radixflow.models.ModelConfig.Scales;
import io.radixflow.models.file.GgufArchitecture.Trait;
import io.radixflow.models.file.format.GgufFile;
import io.radixflow.models.file.format.GgufMetadata;
import io.radixflow.models.file.format.GgufTensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Derives a {@link ModelConfig} from GGUF metadata. Rejects unsupported settings by name. The
 * divisors of the rotary frequencies are not included yet, because they are a tensor.
 */
final class GgufConfig {

  /**
   * The number of extra layers after the last one, which draft tokens; {@code block_count} includes
   * them.
   */
  private static final String SPARE_LAYERS = "nextn_predict_layers";

  /** Keys that change the graph. A model with such a key is rejected, unless the value is 0. */
  private static final List<String> UNSUPPORTED =
      List.of(
          "attention.clamp_kqv",
          "attention.max_alibi_bias",
          "attention.output_scale",
          "attention.value_scale",
          "attention.shared_kv_layers",
          "embedding_length_per_layer_input",
          "rope.scaling.alpha");

  /** Further such keys for architectures without latent attention. */
  private static final List<String> LATENT =
      List.of("attention.q_lora_rank", "attention.kv_lora_rank");

  /** Further such keys for architectures without groups of experts. */
  private static final List<String> GROUPS =
      List.of("expert_group_count", "leading_dense_block_count", SPARE_LAYERS);

  /** The epsilon of the norms of compressed queries, keys and values; files do not contain it. */
  private static final float LATENT_EPSILON = 1e-6f;

  private final GgufFile file;
  private final SupportedShapes check;
  private final GgufArchitecture architecture;
  private final GgufFields fields;

  private GgufConfig(GgufFile file) {
    this.file = file;
    check = new SupportedShapes(file.metadata().file().toString());
    architecture = GgufArchitecture.of(file.metadata().string("general.architecture"), check);
    fields = new GgufFields(file.metadata(), architecture, check);
  }

  static ModelConfig read(GgufFile file) {
    return new GgufConfig(file).read();
  }

  /** Number of positions that a model was trained for before its rotary embedding was scaled. */
  static int originalContext(GgufFile file) {
    GgufConfig config = new GgufConfig(file);
    return new GgufRope(config.fields, config.architecture).originalContext();
  }

  private ModelConfig read() {
    refuse();
    GgufMetadata metadata = file.metadata();
    int layers = layers();
    GgufAttention attention =
        new GgufAttention(fields, architecture, file.tensors().keySet(), layers);
    GgufFeedForward feedForward = new GgufFeedForward(fields, architecture, file, check);
    List<Layer> blocks = new ArrayList<>();
    for (int layer = 0; layer < layers; layer++) {
      blocks.add(new Layer(attention.layer(layer), feedForward.layer(layer), architecture.norms()));
    }
    return check.consistent(
        new ModelConfig(
            architecture.type(),
            metadata.has("general.name") ? metadata.string("general.name") : architecture.type(),
            rows(file, "token_embd.weight", check),
            fields.size("context_length"),
            fields.size("embedding_length"),
            norm(),
            scales(),
            blocks,
            !file.tensors().containsKey("output.weight")));
  }

  private void refuse() {
    refuse(UNSUPPORTED);
    refuse(architecture.has(Trait.LATENT) ? List.of() : LATENT);
    refuse(architecture.has(Trait.GROUPED_EXPERTS) ? List.of() : GROUPS);
    if (fields.has("rope.dimension_sections")) {
      throw fields.unsupported("rope.dimension_sections", "rotary embedding of images");
    }
    if (!fields.flag("attention.causal", true)) {
      throw fields.unsupported("attention.causal", "bidirectional attention");
    }
  }

  private void refuse(List<String> names) {
    for (String name : names) {
      double value = fields.real(name, 0);
      if (value != 0) {
        throw fields.unsupported(name, "value " + value);
      }
    }
  }

  /** Number of layers in the graph. */
  private int layers() {
    int stored = check.layers(fields.size("block_count"));
    int spare = fields.count(SPARE_LAYERS);
    if (spare >= stored) {
      throw fields.error(SPARE_LAYERS, spare + " of " + stored + " layers");
    }
    return stored - spare;
  }

  private Norm norm() {
    if (architecture.has(Trait.CENTRED_NORMS)) {
      float epsilon = epsilon("attention.layer_norm_epsilon");
      return new Norm(true, epsilon, epsilon);
    }
    float epsilon = epsilon("attention.layer_norm_rms_epsilon");
    return new Norm(false, epsilon, architecture.has(Trait.LATENT) ? LATENT_EPSILON : epsilon);
  }

  private float epsilon(String name) {
    if (!fields.has(name)) {
      throw fields.error(name, "missing");
    }
    return (float) fields.real(name, 0);
  }

  private Scales scales() {
    boolean byWidth = architecture.has(Trait.EMBEDDING_SCALED_BY_WIDTH);
    double embedding = byWidth ? Math.sqrt(fields.size("embedding_length")) : 1;
    return new Scales(
        fields.factor("embedding_scale", embedding),
        fields.factor("residual_scale", 1),
        logitScale(),
        fields.bound("final_logit_softcapping", architecture.usualLogitCap()));
  }

  private float logitScale() {
    float scale = fields.factor("logit_scale", 1);
    if (architecture.has(Trait.LOGITS_DIVIDED)) {
      return 1 / scale;
    }
    if (scale != 1 && !architecture.has(Trait.LOGITS_MULTIPLIED)) {
      throw fields.unsupported("logit_scale", "value " + scale);
    }
    return scale;
  }

  /** Number of rows of a matrix, or of each matrix of a stack. Throws if the tensor is missing. */
  static int rows(GgufFile file, String name, SupportedShapes check) {
    GgufTensor tensor = file.tensors().get(name);
    if (tensor == null || tensor.dimensions().length < 2) {
      throw check.error("tensor " + name + " is missing or not a matrix");
    }
    return check.size("rows of " + name, tensor.dimensions()[1]);
  }
}
